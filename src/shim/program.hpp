// The program of this process.
#pragma once

#include <string>

namespace urakata::shim {

std::string command_line();
const char* program_file();  // its path; empty: it cannot be found

}  // namespace urakata::shim
