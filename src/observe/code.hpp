// SPDX-License-Identifier: BSD-3-Clause
// Where in which file of code an address lies, so that others can find its source line later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace urakata::observe {

struct CodePlace {
  std::string module;        // path of the program or shared library; empty: unknown
  std::uint64_t offset = 0;  // the address as the module's own symbol table and debug information count it
  std::string symbol;        // nearest exported symbol below; empty: none
  std::uint64_t symbol_offset = 0;
};

// `program` is the path of the program's own file, which the dynamic linker does not name. Any thread; allocates and
// takes the dynamic linker's lock.
CodePlace code_place(const void* address, std::string_view program);

}  // namespace urakata::observe
