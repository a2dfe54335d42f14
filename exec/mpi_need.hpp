// Which MPI a program will load, told from the libraries that it needs.
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
  unknown,   // an MPI library of another number
};

// The ABI of a library by its shared-object name.
Abi abi_of_library(std::string_view soname);
// "openmpi", "mpich", "abi": as in the preload library's name. Empty for the other two.
std::string_view name(Abi abi);

struct MpiNeed {
  Abi abi = Abi::none;
  std::string library;      // its shared-object name
  std::string path;         // where the linker would find it; empty where it would not
  bool loads_late = false;  // no MPI so far, but the program or one of its libraries calls dlopen
  // What the linker looks through before the MPI library when it looks up a symbol, in that order: the program first,
  // then what is preloaded. Empty without an MPI. Without what an earlier search of the same MpiSearch has seen.
  std::vector<std::unique_ptr<const Loader>> before;  // by pointers, since loaders point at each other
};

// Follows what programs and libraries need. What was looked at once and held no MPI is not looked at again.
class MpiSearch {
 public:
  // `path` is a program or library; `preloaded` are files that are preloaded into it. Breadth first, as the linker
  // does, so that a program's own choice goes before a library's.
  MpiNeed need_of(const std::string& path, const std::vector<std::string>& preloaded = {});
  LibrarySearch& libraries() { return libraries_; }

 private:
  LibrarySearch libraries_;
  std::unordered_set<std::string> seen_;
};

}  // namespace urakata
