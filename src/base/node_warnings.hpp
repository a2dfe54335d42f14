// SPDX-License-Identifier: BSD-3-Clause
// Warnings that the ranks of a node, or of the whole job, are likely to have alike: that no progress thread could be
// made, say.
//
// While MPI_Init withholds them they are kept, for the ranks to settle which of them says what (job/shared_lines.hpp);
// before and after it each is given at once, as by log::warning().
//
// Thread-safety: warning_of_node() by any thread; the others by the one that calls MPI_Init.
#pragma once

#include <string>
#include <vector>

namespace urakata::log {

[[gnu::format(printf, 1, 2)]] void warning_of_node(const char* format, ...);

void withhold_node_warnings();
// Ends the withholding, and returns what was kept: different texts only.
std::vector<std::string> withheld_node_warnings();

}  // namespace urakata::log
