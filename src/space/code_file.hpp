// Which file a place of code is from, and which function: for signal handlers, which may not call dladdr(), since
// another thread may hold the dynamic linker's lock.
#pragma once

#include <cstdint>
#include <span>

namespace urakata::space {

struct CodeFile {
  std::uint64_t address = 0;     // in; the rest is found
  std::uint64_t base = 0;        // where the file's first byte is mapped; 0: the address is in no file
  const char* file = "";         // its path
  const char* symbol = nullptr;  // the exported function that the address is in; nullptr: none
};

// Finds all of them by reading the process's list of mappings once. The texts stay until the next call; one call at a
// time. A path for which there is no room stays empty.
void find_code_files(std::span<CodeFile> places);

}  // namespace urakata::space
