// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/devices.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "device/runtime.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {

namespace {

std::atomic<std::uint32_t> loads{1};  // calls of dlopen that have begun
std::atomic<std::uint32_t> looked{0};

// Only now, in the space, it is seen that the program itself loads a driver.
void tell_once() {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  log::warning_of_all(
      "%s is in use in a space, where drivers do not expect several processes in one address space; if it fails, run "
      "without --space",
      device::names().c_str());
}

}  // namespace

bool look_for_devices() {
  const std::uint32_t now = loads.load(std::memory_order_acquire);
  if (looked.load(std::memory_order_relaxed) == now) return true;  // the last look left the flag up: it found a driver
  const bool any = device::find_drivers();
  if (any && ranks_in_space() != 0 && !options().space_devices) tell_once();
  looked.store(now, std::memory_order_relaxed);
  if (!any) {
    native.may_have_devices.store(false, std::memory_order_seq_cst);
    if (loads.load(std::memory_order_seq_cst) != now) native.may_have_devices.store(true, std::memory_order_relaxed);
  }
  return any;
}

}  // namespace urakata::shim

// Returns where the entry point `dlopen` goes on: the next `dlopen` in search order, the C library's or a tool's.
extern "C" [[gnu::visibility("hidden")]] void* urakata_before_dlopen(const char* /*name*/, int /*mode*/,
                                                                     const void* /*caller*/) {
  using namespace urakata::shim;
  // No static with a guarded initialiser: after a fork in another thread meanwhile, the child's calls would wait for a
  // thread that only the parent has.
  static std::atomic<void*> real{nullptr};
  void* found = real.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, "dlopen");
    real.store(found, std::memory_order_release);
  }
  loads.fetch_add(1, std::memory_order_seq_cst);
  native.may_have_devices.store(true, std::memory_order_seq_cst);
  return found;
}
