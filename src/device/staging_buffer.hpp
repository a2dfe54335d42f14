// SPDX-License-Identifier: BSD-3-Clause
// A staging buffer: host memory that stands for a program's buffer, some bytes of which lie in device memory. Each
// byte has the same distance from the first byte as in the program's buffer. Code for the program's buffer therefore
// works on the staging buffer unchanged. Only bytes of the elements are copied; holes in the program's buffer keep
// their contents.
//
// Thread-safety: one object is used by one thread at a time; any thread may call of() and traffic().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "device/pages.hpp"
#include "layout/layout.hpp"

namespace urakata::device {

// Elements of the program's buffer. The layout must outlive every staging buffer made from them.
struct Elements {
  const layout::Layout* layout = nullptr;  // nullptr: each element is one byte
  std::byte* address = nullptr;
  std::uint64_t count = 0;  // number of elements
};

class StagingBuffer {
 public:
  struct Part {
    Elements elements;
    bool in = false;   // whether the operation reads the part
    bool out = false;  // whether the operation writes the part
  };

  // A staging buffer for the parts of one buffer. nullptr: all parts are in host memory. Error: a driver failed, there
  // is no memory, or a layout hides its blocks while some part is in device memory.
  static Result<std::unique_ptr<StagingBuffer>> of(std::vector<Part> parts);

  // The counterpart of an address in the program's buffer.
  std::byte* at(const void* address) const {
    return pages_.data() + (reinterpret_cast<std::uintptr_t>(address) - low_);
  }

  // Before the operation: copies the parts that the operation reads from the program's buffer.
  Status fetch();
  // After the operation: copies the written parts to the program's buffer, at most `bytes` bytes of payload of each.
  Status store(std::uint64_t bytes = UINT64_MAX);

 private:
  StagingBuffer() = default;
  Status move(const Elements& elements, std::uint64_t bytes, Direction direction);

  std::vector<Part> parts_;
  std::uintptr_t low_ = 0;  // lowest address of the program's buffer
  Pages pages_;
};

// Bytes copied from and to devices since the process began.
struct Traffic {
  std::uint64_t fetched = 0;
  std::uint64_t stored = 0;
};
Traffic traffic();

}  // namespace urakata::device
