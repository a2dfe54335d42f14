// SPDX-License-Identifier: BSD-3-Clause
#include "space/registered_memory.hpp"

#include <sys/utsname.h>

#include <array>
#include <atomic>
#include <charconv>
#include <system_error>

#include "space/maps.hpp"

namespace urakata::space {
namespace {

// A caller that has been looked up. Few addresses call, and each calls often. Any thread may take a free entry, for
// good.
struct Caller {
  std::atomic<std::uintptr_t> address{0};  // 0: free
  std::atomic<int> needless{-1};           // -1: not known yet
};
constinit std::array<Caller, 16> callers;

bool kernel_copies_pinned_pages() {
  utsname about{};
  return uname(&about) == 0 && copies_pinned_pages(about.release);
}

// Does not call dladdr(): another thread may hold the dynamic linker's lock and wait for a lock that this thread holds.
bool look_up(std::uintptr_t caller) {
  if (!kernel_copies_pinned_pages()) return false;
  ProcLines lines("/proc/self/maps");
  while (const auto line = lines.next()) {
    const auto mapping = maps_line(*line);
    if (mapping && caller >= mapping->begin && caller < mapping->end) return is_registering_library(mapping->path);
  }
  return false;
}

}  // namespace

bool copies_pinned_pages(std::string_view release) {
  int major = 0;
  int minor = 0;
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, major);
  if (error != std::errc{} || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc{}) return false;
  return major > 5 || (major == 5 && minor >= 13);
}

bool is_registering_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  // MPICH's library may hold UCX.
  for (const std::string_view one : {"libibverbs", "libmlx5", "libuct_ib", "libmpi.so", "libmpich.so"}) {
    if (name.starts_with(one)) return true;
  }
  return false;
}

bool is_needless_fork_advice(std::uintptr_t caller) {
  for (Caller& one : callers) {
    std::uintptr_t present = one.address.load(std::memory_order_acquire);
    if (present == 0 && one.address.compare_exchange_strong(present, caller, std::memory_order_acq_rel)) {
      present = caller;
    }
    if (present != caller) continue;
    int needless = one.needless.load(std::memory_order_relaxed);
    if (needless < 0) {
      needless = look_up(caller) ? 1 : 0;
      one.needless.store(needless, std::memory_order_relaxed);
    }
    return needless != 0;
  }
  return look_up(caller);
}

}  // namespace urakata::space
