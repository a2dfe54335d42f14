// SPDX-License-Identifier: BSD-3-Clause
// Reads from a program or library what is needed to find its libraries, as the dynamic linker does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace urakata {

struct Elf {
  bool dynamic = false;  // whether it has an interpreter or needs libraries, so that preloading works
  bool foreign = false;  // whether it is for another machine or word size than this build; all else is then empty
  bool imports_dlopen = false;  // also true if not all of its symbols can be read
  std::string soname;
  std::vector<std::string> needed;
  std::string rpath;  // as written, with $ORIGIN
  std::string runpath;
};

// Error: the file is not readable, or is no ELF file.
Result<Elf> read_elf(const std::string& path);

// The functions that a library exports and whose names begin with the prefix. Empty if the library cannot be read.
std::vector<std::string> exported_functions(const std::string& path, std::string_view prefix);

}  // namespace urakata
