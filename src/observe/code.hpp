// SPDX-License-Identifier: BSD-3-Clause
// The program or library in which an address of code lies, and where in it: by these, readers find the source line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace urakata::observe {

struct CodePlace {
  std::string module;               // path of the program or shared library; empty: unknown
  std::uint64_t offset = 0;         // the address as in the module's symbol table and debug information
  std::string symbol;               // the nearest exported symbol at or below the address; empty: none
  std::uint64_t symbol_offset = 0;  // from the symbol to the address
};

// `program`: path of the program's own file, which the dynamic linker does not name. Thread-safety: by any thread;
// allocates and takes the dynamic linker's lock.
CodePlace code_place(const void* address, std::string_view program);

}  // namespace urakata::observe
