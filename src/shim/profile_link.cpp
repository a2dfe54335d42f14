// What the profile, a preload library in front of this one, gets from it: observe/profile_link.hpp.
#include <dlfcn.h>

#include <string>

#include "shim/host.hpp"
#include "shim/process.hpp"
#include "shim/profiled.hpp"
#include "shim/program.hpp"

namespace urakata::shim {

constinit thread_local observe::ProfiledThread profiled;

namespace {

void* find_behind_profile(const char* name) {
  // Not by RTLD_NEXT, which starts behind this function, but in this library alone, and then in the host's.
  static void* const own = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&find_behind_profile), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  void* const found = own != nullptr ? dlsym(own, ("MPI_" + std::string(name)).c_str()) : nullptr;
  return found != nullptr ? found : host_symbol(("PMPI_" + std::string(name)).c_str());
}

const char* command_line_text() {
  static const std::string& line = *new std::string(command_line());
  return line.c_str();
}

constexpr observe::ProfileLink kLink = {
    .find = find_behind_profile,
    .thread = [] { return &profiled; },
    .reported = [] { return process().observer() != nullptr; },
    .waiting = [](const std::atomic<std::uint32_t>& word) { program_waits.store(&word, std::memory_order_relaxed); },
    .rank =
        [](int* rank, int* ranks) {
          host.Comm_rank(MPI_COMM_WORLD, rank);
          host.Comm_size(MPI_COMM_WORLD, ranks);
        },
    .program = command_line_text,
    .file = program_file,
};

}  // namespace

constinit std::atomic<const std::atomic<std::uint32_t>*> program_waits{nullptr};

}  // namespace urakata::shim

extern "C" __attribute__((visibility("default"))) const urakata::observe::ProfileLink* urakata_profile_link() {
  return &urakata::shim::kLink;
}
