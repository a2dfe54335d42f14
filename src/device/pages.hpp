// SPDX-License-Identifier: BSD-3-Clause
// Host memory of ours that a driver copies to and from. The pages hold nothing else. An object of up to 64 MiB is
// pinned, that is registered with the driver, if the driver accepts it. Pinning takes longer than most copies, so freed
// pages of such objects are cached.
//
// Only the registration belongs to the driver. The pages stay usable when the program resets its device.
//
// Thread-safety: any thread may use its own objects; one object is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/driver.hpp"

namespace urakata::device {

class Pages {
 public:
  Pages() = default;
  // At least `bytes` bytes for copies to and from `place`, which is in device memory. data() is nullptr if there is no
  // memory.
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
