// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifecycle/other_launcher.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/program_file.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

// Rank 0 alone says it. With Open MPI the first rank that ends, ends all, so the others wait until rank 0 has said it.
constexpr unsigned kRank0Time = 2;  // s
constexpr int kBadUse = 2;

std::string library_file() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(native.Init_thread), &info) != 0 && info.dli_fname != nullptr;
  return found ? info.dli_fname : std::string();
}

// "MPICH 5.0.2 (/opt/mpich/lib/libmpi.so.12)".
std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  native.Get_library_version(version.data(), &length);
  std::string name(version.data());
  name.resize(std::min(name.find_first_of("\n,"), name.size()));
  if (constexpr std::string_view kMpich = "MPICH Version:"; name.starts_with(kMpich)) {
    const std::size_t number = name.find_first_not_of(" \t", kMpich.size());
    name = "MPICH " + (number == std::string::npos ? "" : name.substr(number));
  }
  const std::string file = library_file();
  return file.empty() ? name : name + " (" + file + ")";
}

// The launcher that came with the library. Empty: none is found.
std::string own_launcher() {
  std::string folder = real_path(library_file());
  const bool of_system = folder.starts_with("/usr/lib") || folder.starts_with("/lib");
#if defined(URAKATA_ABI_OPENMPI)
  constexpr std::array kOfSystem = {"/usr/bin/mpirun.openmpi"};
#else
  constexpr std::array kOfSystem = {"/usr/bin/mpiexec.mpich", "/usr/bin/mpiexec.hydra"};
#endif
  if (of_system) {  // where /usr/bin/mpirun may be any family's
    for (const char* const name : kOfSystem) {
      if (access(name, X_OK) == 0) return name;
    }
    return {};
  }
  // PREFIX/lib/libmpi.so, or PREFIX/lib/release/libmpi.so.
  for (int up = 0; up < 3 && folder.find('/') != std::string::npos; ++up) {
    folder.resize(folder.rfind('/'));
    if (std::string file = folder + "/bin/mpirun"; !folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

#if defined(URAKATA_ABI_OPENMPI)
constexpr std::string_view kOther = "Hydra";
constexpr std::string_view kItsFamily = "Hydra, the launcher of MPICH and Intel MPI,";
#else
constexpr std::string_view kOther = "Open MPI";
constexpr std::string_view kItsFamily = "Open MPI's mpirun";
#endif

bool is_other(const Launcher& started) {
  if (started.ranks <= 1 || started.name != kOther) return false;
#if !defined(URAKATA_ABI_OPENMPI)
  if (std::getenv("PMI_RANK") != nullptr) return false;  // a Hydra inside a rank of Open MPI's has started this one
#endif
  return true;
}

// Whether the MPI library has no means by which the other family's launcher could tell it about the job.
bool is_deaf() {
#if defined(URAKATA_ABI_OPENMPI)
  return std::getenv("PMIX_NAMESPACE") == nullptr;  // Open MPI's ranks meet by PMIx, which Hydra has none of
#elif defined(URAKATA_ABI_MPICH)
  // MPICH may be built with PMIx, and Intel MPI may load a PMI library that the user names.
  return native_symbol("PMIx_Init") == nullptr && std::getenv("I_MPI_PMI_LIBRARY") == nullptr;
#else
  return false;
#endif
}

[[noreturn]] void refuse(const Launcher& started) {
  if (started.rank > 0) {
    sleep(kRank0Time);
    std::_Exit(kBadUse);
  }
  std::string message = "the program loads " + library_name() + ", but " + std::string(kItsFamily) + " started its " +
                        std::to_string(started.ranks) + " ranks: each would be a job of its own. ";
  const std::string own = own_launcher();
  message += own.empty() ? "Start it with the launcher of its MPI library"
                         : "Start it with " + own + " (urakata run --mpi " + own + ")";
  log::error("%s", message.c_str());
  std::_Exit(kBadUse);
}

}  // namespace

void refuse_other_launcher(const Launcher& started) {
  if (is_other(started) && is_deaf()) refuse(started);
}

void refuse_rank_left_alone(const Launcher& started, int world_size) {
  if (world_size != 1 || started.ranks <= 1) return;
  if (is_other(started)) refuse(started);
  if (std::string_view(started.name) != "Slurm" || started.rank != 0) return;
#if defined(URAKATA_ABI_OPENMPI)
  constexpr const char* kPlugin = "--mpi=pmix";
#else
  constexpr const char* kPlugin = "--mpi=pmi2 (or pmix)";
#endif
  log::warning("the program loads %s, and each of the %d tasks of srun is a job of its own. For one job try srun %s",
               library_name().c_str(), started.ranks, kPlugin);
}

}  // namespace urakata::shim
