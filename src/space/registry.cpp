// SPDX-License-Identifier: BSD-3-Clause
#include "space/registry.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace urakata::space {
namespace {

// Whether the process may read these bytes. Asks the kernel, since reading them may be a segmentation fault.
bool readable(const void* address, std::size_t bytes) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  const bool good = write(ends[1], address, bytes) == static_cast<ssize_t>(bytes);
  close(ends[0]);
  close(ends[1]);
  return good;
}

}  // namespace

void TaskRecord::begin_use() {
  pid.store(0, std::memory_order_relaxed);
  settled.store(false, std::memory_order_relaxed);
  shares_file.store(false, std::memory_order_relaxed);
  uses.fetch_add(1, std::memory_order_relaxed);
}

std::optional<Membership> own_membership() {
  const char* text = std::getenv(kSpaceVariable);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const std::uint64_t address = std::strtoull(text, &end, 16);
  if (end == text || *end != ':' || address % alignof(Registry) != 0) return std::nullopt;
  const std::uint64_t identity = std::strtoull(end + 1, nullptr, 16);

  auto* const registry = reinterpret_cast<Registry*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (address == 0 || !readable(registry, offsetof(Registry, tasks))) return std::nullopt;
  if (registry->magic != Registry::kMagic || registry->identity != identity) return std::nullopt;
  const pid_t self = getpid();
  const std::uint32_t used = registry->used.load(std::memory_order_acquire);
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    const TaskRecord& record = registry->tasks[slot];
    if (record.pid.load(std::memory_order_acquire) == self &&
        record.state.load(std::memory_order_acquire) != TaskState::ended) {
      return Membership{registry, slot};
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> own_space() {
  const auto membership = own_membership();
  if (!membership) return std::nullopt;
  return membership->registry->identity;
}

}  // namespace urakata::space
