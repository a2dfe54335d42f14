// SPDX-License-Identifier: BSD-3-Clause
// What the profile, a preload library in front of this one, gets from it: observe/profile_link.hpp.
#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "observe/observer.hpp"
#include "shim/communicators/communicator_origin.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/own_program.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"

namespace urakata::shim {

namespace {

void* find_behind_profile(const char* name) {
  // Not by RTLD_NEXT, which starts behind this function, but in this library alone, and then in the MPI library's.
  static void* const own = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&find_behind_profile), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  const bool ours = std::string_view(name).starts_with("ura_");
  void* const found = own != nullptr ? dlsym(own, ((ours ? "" : "MPI_") + std::string(name)).c_str()) : nullptr;
  if (ours) return found;
  return found != nullptr ? found : native_symbol(("PMPI_" + std::string(name)).c_str());
}

const char* command_line_text() {
  static const std::string& line = *new std::string(command_line());
  return line.c_str();
}

std::uint64_t number_of_communicator(const void* handle) {
  const CommunicatorOrigin* const origin = origin_of(*static_cast<const MPI_Comm*>(handle));
  return origin != nullptr ? origin->number : 0;
}

std::size_t members_of_communicator(const void* handle, std::int32_t* world, std::size_t room) {
  const MPI_Comm comm = *static_cast<const MPI_Comm*>(handle);
  int inter = 0;
  native.Comm_test_inter(comm, &inter);
  if (inter != 0) return 0;
  const std::vector<std::int32_t> ranks = world_ranks(comm);
  std::copy_n(ranks.begin(), std::min(room, ranks.size()), world);
  return ranks.size();
}

std::uint64_t bytes_of_status(const void* status) {
  MPI_Count bytes = 0;
  native.Get_elements_x(static_cast<const MPI_Status*>(status), MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;  // MPI_UNDEFINED is negative
}

constexpr observe::ProfileLink kLink = {
    .find = find_behind_profile,
    .thread = [] { return &profiled; },
    .reported = [] { return process_state.observer != nullptr; },
    .waiting = [](const std::atomic<std::uint32_t>& word) { program_waits.store(&word, std::memory_order_relaxed); },
    .rank =
        [](int* rank, int* ranks) {
          native.Comm_rank(MPI_COMM_WORLD, rank);
          native.Comm_size(MPI_COMM_WORLD, ranks);
        },
    .job = [] { return process().job().identity(); },
    .program = command_line_text,
    .file = program_file,
    .communicator = number_of_communicator,
    .members = members_of_communicator,
    .bytes = bytes_of_status,
};

}  // namespace

}  // namespace urakata::shim

extern "C" __attribute__((visibility("default"))) const urakata::observe::ProfileLink* urakata_profile_link() {
  return &urakata::shim::kLink;
}
