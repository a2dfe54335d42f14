// What the dynamic linker would read in a program or library: just enough to follow what it needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace urakata {

struct Elf {
  bool dynamic = false;  // has an interpreter or a dynamic section with needs: preloading reaches it
  bool foreign = false;  // of another machine or word size than this build
  bool imports_dlopen = false;
  std::string soname;
  std::vector<std::string> needed;
  std::string rpath;  // as written, with $ORIGIN
  std::string runpath;
};

// Error: not readable, or no ELF file.
Result<Elf> read_elf(const std::string& path);

// The functions that a library defines for others and whose names begin so. Empty where it cannot be read.
std::vector<std::string> exported_functions(const std::string& path, std::string_view prefix);

}  // namespace urakata
