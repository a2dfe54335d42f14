// SPDX-License-Identifier: BSD-3-Clause
// Finds the file and the function that a code address belongs to. Signal handlers use this instead of dladdr(), since
// another thread may hold the dynamic linker's lock.
#pragma once

#include <cstdint>
#include <span>

namespace urakata::space {

struct CodeFile {
  std::uint64_t address = 0;     // input; the other members are output
  std::uint64_t base = 0;        // address of the file's first byte; 0: the address is in no file
  const char* file = "";         // path of the file
  const char* symbol = nullptr;  // exported function that the address is in; nullptr: none
};

// Fills in all places by reading the process's list of mappings once. The strings stay valid until the next call. Only
// one thread may call it at a time. A path stays empty if there is no room for it.
void find_code_files(std::span<CodeFile> places);

}  // namespace urakata::space
