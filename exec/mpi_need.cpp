// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_need.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace urakata {
namespace {

// The C library calls dlopen for name services and character sets, which never loads an MPI library.
bool of_the_c_library(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {"libc.so.",  "libm.so.", "libdl.so.",   "libpthread.so.",
                                                      "librt.so.", "ld-linux", "libgcc_s.so."};
  return std::ranges::any_of(kNames, [&](std::string_view one) { return name.starts_with(one); });
}

}  // namespace

Abi abi_of_library(std::string_view soname) {
  if (soname.starts_with("libmpi.so.40")) return Abi::openmpi;
  if (soname.starts_with("libmpi.so.12") || soname.starts_with("libmpich.so.12")) return Abi::mpich;
  if (soname.starts_with("libmpi_abi.so.1")) return Abi::standard;
  for (const std::string_view stem : {"libmpi.so.", "libmpich.so.", "libmpi_abi.so."}) {
    if (soname.size() > stem.size() && soname.starts_with(stem) &&
        std::isdigit(static_cast<unsigned char>(soname[stem.size()])) != 0) {
      return Abi::unknown;
    }
  }
  return Abi::none;
}

std::string_view name(Abi abi) {
  switch (abi) {
    case Abi::openmpi:
      return "openmpi";
    case Abi::mpich:
      return "mpich";
    case Abi::standard:
      return "abi";
    case Abi::none:
    case Abi::unknown:
      break;
  }
  return {};
}

MpiNeed MpiSearch::need_of(const std::string& path, const std::vector<std::string>& preloaded) {
  MpiNeed need;
  std::vector<std::unique_ptr<const Loader>>& found = need.before;
  const auto open = [&](const std::string& file, const Loader* by) {
    Result<Elf> elf = read_elf(file);
    if (elf && !elf->foreign) found.push_back(std::make_unique<Loader>(Loader{file, std::move(*elf), by}));
  };
  open(path, nullptr);
  if (found.empty()) return need;
  // If the object is an MPI library, drops its own entry: need.before keeps the objects in front of it.
  const auto is_the_mpi = [&](const Loader& one) {
    need.abi = abi_of_library(one.elf.soname);
    if (need.abi == Abi::none) return false;
    need.library = one.elf.soname;
    need.path = one.path;
    found.pop_back();
    return true;
  };
  if (is_the_mpi(*found.back())) return need;
  for (const std::string& file : preloaded) {
    open(file, found.front().get());
    if (is_the_mpi(*found.back())) return need;
  }
  for (std::size_t next = 0; next < found.size(); ++next) {
    const Loader& one = *found[next];
    need.loads_late = need.loads_late || one.elf.imports_dlopen;
    for (const std::string& library : one.elf.needed) {
      if (const Abi abi = abi_of_library(library); abi != Abi::none) {
        need.abi = abi;
        need.library = library;
        need.path = libraries_.find(library, &one);
        need.loads_late = false;
        return need;
      }
      if (of_the_c_library(library) || !seen_.insert(library).second) continue;
      if (const std::string file = libraries_.find(library, &one); !file.empty()) open(file, &one);
    }
  }
  found.clear();
  return need;
}

}  // namespace urakata
