// SPDX-License-Identifier: BSD-3-Clause
#include "observe/code.hpp"

#include <dlfcn.h>
#include <link.h>

namespace urakata::observe {
namespace {

struct Search {
  std::uintptr_t address;
  CodePlace* place;
};

// Finds module and offset. dladdr would give the base address of the module, but symbol tables count from the load
// bias, and the two differ in programs that are not position-independent.
int look(dl_phdr_info* info, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || search.address < begin || search.address >= begin + header.p_memsz) continue;
    search.place->module = info->dlpi_name;
    search.place->offset = search.address - info->dlpi_addr;
    return 1;
  }
  return 0;
}

}  // namespace

CodePlace code_place(const void* address, std::string_view program) {
  CodePlace place;
  if (address == nullptr) return place;
  Search search{reinterpret_cast<std::uintptr_t>(address), &place};
  if (dl_iterate_phdr(look, &search) == 1 && place.module.empty()) place.module = program;
  Dl_info info;
  if (dladdr(address, &info) != 0 && info.dli_sname != nullptr) {
    place.symbol = info.dli_sname;
    place.symbol_offset = search.address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  }
  return place;
}

}  // namespace urakata::observe
