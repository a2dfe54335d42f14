// Where in which file of code an address lies, so that others can find its source line later.
#pragma once

#include <cstdint>
#include <string>

namespace urakata::observe {

struct CodePlace {
  std::string module;        // path of the program or shared library; empty: unknown
  std::uint64_t offset = 0;  // the address as the module's own symbol table and debug information count it
  std::string symbol;        // nearest exported symbol below; empty: none
  std::uint64_t symbol_offset = 0;
};

// Any thread; allocates and takes the dynamic linker's lock.
CodePlace code_place(const void* address);

}  // namespace urakata::observe
