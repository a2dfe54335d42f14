// Memory of ours that a driver copies to and from: pages of their own, made known to the driver (pinned) where it
// takes them. Pinning takes longer than most copies, so pages are kept for the next user.
//
// The pages are ours, and only their registration is the driver's: they stay usable when the program resets its device.
//
// Thread-safety: by any thread; an object by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/driver.hpp"

namespace urakata::device {

class Pages {
 public:
  Pages() = default;
  // At least so many bytes, for copies to and from that place; empty where there is no memory.
  Pages(const Place& place, std::uint64_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  std::byte* data() const { return data_; }
  bool pinned() const { return pinned_; }

 private:
  Place place_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace urakata::device
