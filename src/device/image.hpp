// An image: memory of the processor's that stands for a program's buffer of which some bytes are not. Each byte of the
// buffer has its place in it, at the same distance from the first, so whatever works on the buffer works on the image.
// Only what belongs to the elements is ever copied: holes are the program's, or a device's.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "device/pages.hpp"
#include "layout/layout.hpp"

namespace urakata::device {

// Elements of the program's. The layout outlives what is made of it.
struct Elements {
  const layout::Layout* layout = nullptr;  // nullptr: plain bytes
  std::byte* address = nullptr;
  std::uint64_t count = 0;
};

class Image {
 public:
  struct Part {
    Elements elements;
    bool in = false;   // read by the operation
    bool out = false;  // written by it
  };

  // Of the parts of one buffer. nullptr: all of them lie where the processor can reach them. Error: it cannot be found
  // out, or this layout cannot be staged.
  static Result<std::unique_ptr<Image>> of(std::vector<Part> parts);

  // What stands for an address in the buffer.
  std::byte* at(const void* address) const {
    return pages_.data() + (reinterpret_cast<std::uintptr_t>(address) - low_);
  }

  // Before the operation: reads the parts that it reads.
  Status fetch();
  // After it: writes the parts that it has written, as far as the first `bytes` of payload of each.
  Status store(std::uint64_t bytes = UINT64_MAX);

 private:
  Image() = default;
  Status move(const Elements& elements, std::uint64_t bytes, Direction direction);

  std::vector<Part> parts_;
  std::uintptr_t low_ = 0;  // the lowest address of the buffer
  Pages pages_;
};

// What has been copied from and to devices, since the process began.
struct Traffic {
  std::uint64_t fetched = 0;  // bytes
  std::uint64_t stored = 0;
};
Traffic traffic();

}  // namespace urakata::device
