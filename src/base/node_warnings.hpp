// SPDX-License-Identifier: BSD-3-Clause
// Warnings that several ranks of a node, or of the whole job, are likely to give with the same text, such as that no
// progress thread could be made.
//
// During a part of MPI_Init these warnings are withheld. The ranks then agree which of them gives which warning
// (job/shared_lines.hpp). At any other time each warning is given at once, as by log::warning().
//
// Thread-safety: warning_of_node() by any thread; the others by the thread that calls MPI_Init.
#pragma once

#include <string>
#include <vector>

namespace urakata::log {

[[gnu::format(printf, 1, 2)]] void warning_of_node(const char* format, ...);

void withhold_node_warnings();
// Ends the withholding, and returns the texts withheld, each once.
std::vector<std::string> withheld_node_warnings();

}  // namespace urakata::log
