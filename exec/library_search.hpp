// SPDX-License-Identifier: BSD-3-Clause
// Finds a library as the dynamic linker does, by the rules of ld.so(8) for glibc, without hwcaps folders.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf.hpp"

namespace urakata {

// An object that needs libraries, with the chain of objects that led to it. The RPATH of an object also counts for the
// objects that it led to.
struct Loader {
  std::string path;
  Elf elf;
  const Loader* loader = nullptr;
};

class LibrarySearch {
 public:
  LibrarySearch();  // reads LD_LIBRARY_PATH; the linker's cache is read when first needed

  // Path of the library that `loader` gets for `name`; empty: none. `loader` nullptr: no particular object asks. A name
  // with a slash is a path.
  std::string find(std::string_view name, const Loader* loader);

 private:
  void read_cache();

  std::vector<std::string> library_path_;
  std::unordered_map<std::string, std::string> cache_;  // name to path
  bool cache_read_ = false;
};

}  // namespace urakata
