// SPDX-License-Identifier: BSD-3-Clause
#include "device/pages.hpp"

#include <sys/mman.h>

#include <bit>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

namespace urakata::device {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{64} << 10U;       // bytes allocated at least
constexpr std::uint64_t kMostPinned = std::uint64_t{64} << 20U;  // longest pages that are pinned and cached
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20U;   // bytes cached in total at most

struct Kept {
  Mutex lock;
  std::vector<Pages> free URAKATA_GUARDED_BY(lock);
  std::uint64_t bytes URAKATA_GUARDED_BY(lock) = 0;
};
Kept& kept() {
  static auto* all = new Kept;  // never destroyed: pinned pages must not be freed while drivers shut down
  return *all;
}

}  // namespace

Pages::Pages(const Place& place, std::uint64_t bytes) {
  const bool small = bytes <= kMostPinned;
  bytes = small ? std::bit_ceil(bytes < kLeast ? kLeast : bytes) : bytes;
  if (small) {
    Kept& all = kept();
    const LockGuard guard(all.lock);
    for (Pages& one : all.free) {
      if (one.bytes_ != bytes || one.place_ != place) continue;
      std::swap(*this, one);
      std::swap(one, all.free.back());
      all.free.pop_back();
      all.bytes -= bytes;
      return;
    }
  }
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return;
  place_ = place;
  data_ = static_cast<std::byte*>(made);
  bytes_ = bytes;
  pinned_ = small && place.driver->pin(place, data_, bytes);
}

Pages::~Pages() {
  if (data_ == nullptr) return;
  if (bytes_ <= kMostPinned) {
    Kept& all = kept();
    const LockGuard guard(all.lock);
    if (all.bytes + bytes_ <= kMostKept) {
      all.bytes += bytes_;
      all.free.push_back(std::move(*this));
      return;
    }
  }
  if (pinned_) place_.driver->unpin(place_, data_);
  munmap(data_, bytes_);
}

Pages::Pages(Pages&& other) noexcept
    : place_(other.place_), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), pinned_(other.pinned_) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(pinned_, other.pinned_);
  return *this;
}

}  // namespace urakata::device
