// SPDX-License-Identifier: BSD-3-Clause
// The program of this process.
#pragma once

#include <string>

namespace urakata::shim {

std::string command_line();  // as a shell takes it, with a space behind each word
const char* program_file();  // its path; empty: it cannot be found

}  // namespace urakata::shim
