// SPDX-License-Identifier: BSD-3-Clause
#include "device/runtime.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace urakata::device {
namespace {

constexpr std::array<const Driver*, 3> kDrivers = {&kCuda, &kHip, &kLevelZero};

// State of a driver: not examined yet; loaded, but not used; in use.
enum class State : std::uint8_t { unseen, useless, there };
std::array<std::atomic<State>, kDrivers.size()> states;

// File names of the drivers' libraries, by driver; empty for a driver that is not loaded.
using Files = std::array<std::string, kDrivers.size()>;

int note_library(dl_phdr_info* about, std::size_t /*size*/, void* files) {
  std::string_view name = about->dlpi_name;
  name = name.substr(name.rfind('/') + 1);
  for (std::size_t i = 0; i < kDrivers.size(); ++i) {
    if (name.starts_with(kDrivers[i]->library)) (*static_cast<Files*>(files))[i] = about->dlpi_name;
  }
  return 0;
}

State connect(const Driver& driver, const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);  // keeps the library loaded
  if (library == nullptr) return State::unseen;                         // still being loaded, or unloaded again
  if (const Status done = driver.connect(library); !done) {
    log::warning(
        "%s is loaded, but %s; memory of %s devices cannot be told from the processor's, and operations on it "
        "will fail",
        file.c_str(), done.error().message.c_str(), std::string(driver.name).c_str());
    return State::useless;
  }
  const auto is_there = [](const char* node) { return access(node, F_OK) == 0; };
  if (std::ranges::none_of(driver.nodes, is_there) && driver.deserted(library)) {
    log::detail("%s is loaded, and finds no device: it is left alone", file.c_str());
    return State::useless;
  }
  log::detail("%s is loaded: buffers in memory of %s devices are staged", file.c_str(),
              std::string(driver.name).c_str());
  return State::there;
}

}  // namespace

std::span<const Driver* const> drivers() { return kDrivers; }

bool find_drivers() {
  static Mutex lock;
  const LockGuard guard(lock);
  Files files;
  dl_iterate_phdr(note_library, &files);
  bool any = false;
  for (std::size_t i = 0; i < kDrivers.size(); ++i) {
    if (!files[i].empty() && states[i].load(std::memory_order_relaxed) == State::unseen) {
      states[i].store(connect(*kDrivers[i], files[i]), std::memory_order_release);
    }
    any = any || states[i].load(std::memory_order_relaxed) == State::there;
  }
  return any;
}

std::string names() {
  std::string all;
  for (std::size_t i = 0; i < kDrivers.size(); ++i) {
    if (states[i].load(std::memory_order_acquire) != State::there) continue;
    all += (all.empty() ? "" : ", ") + std::string(kDrivers[i]->name);
  }
  return all;
}

Result<Place> place_of(const void* address) {
  for (std::size_t i = 0; i < kDrivers.size(); ++i) {
    if (states[i].load(std::memory_order_acquire) != State::there) continue;
    Result<Place> place = kDrivers[i]->place_of(address);
    if (!place || place->driver != nullptr) return place;
  }
  return Place{};
}

}  // namespace urakata::device
