// SPDX-License-Identifier: BSD-3-Clause
// Finds out which MPI library a program will load, from the libraries that it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "library_search.hpp"

namespace urakata {

enum class Abi : std::uint8_t {
  none,      // no MPI
  openmpi,   // libmpi.so.40: Open MPI 4 and 5
  mpich,     // libmpi.so.12, libmpich.so.12: MPICH, Intel MPI, MVAPICH
  standard,  // libmpi_abi.so.1: the MPI-5 standard ABI
  unknown,   // an MPI library with another version number
};

// The ABI of a library by its shared-object name.
Abi abi_of_library(std::string_view soname);
// The part of the preload library's name: "openmpi", "mpich" or "abi". Empty for `none` and `unknown`.
std::string_view name(Abi abi);

struct MpiNeed {
  Abi abi = Abi::none;
  std::string library;      // shared-object name of the MPI library
  std::string path;         // path at which the linker finds it; empty: not found
  bool loads_late = false;  // whether the program needs no MPI library, but it or one of its libraries calls dlopen
  // The objects in which the linker looks for a symbol before it looks in the MPI library, in this order: the program,
  // then preloaded files, then libraries. Empty without an MPI library. Objects that an earlier search of the same
  // MpiSearch has seen are missing.
  std::vector<std::unique_ptr<const Loader>> before;  // pointers, since loaders point at each other
};

// Follows the libraries that programs and libraries need. An object in which no MPI library was found is not read
// again.
class MpiSearch {
 public:
  // `path` is a program or library; `preloaded` are files that are preloaded into it. Searches breadth first, as the
  // linker does: the MPI library that the program itself needs comes before one that a library needs.
  MpiNeed need_of(const std::string& path, const std::vector<std::string>& preloaded = {});
  LibrarySearch& libraries() { return libraries_; }

 private:
  LibrarySearch libraries_;
  std::unordered_set<std::string> seen_;
};

}  // namespace urakata
