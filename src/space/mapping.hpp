// SPDX-License-Identifier: BSD-3-Clause
// Maps a program or a dynamic linker into the current address space, as the kernel does at exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "space/image.hpp"

namespace urakata::space {

// Mapped memory with one owner. The destructor unmaps it unless keep() was called.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* start, std::size_t bytes) : start_(static_cast<std::byte*>(start)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : start_(other.start_), bytes_(other.bytes_) { other.keep(); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  // Leaves the memory mapped for good: from now on it belongs to the task.
  void keep() {
    start_ = nullptr;
    bytes_ = 0;
  }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

struct MappedImage {
  Mapping memory;
  std::uint64_t base = 0;  // what was added to the image's addresses
};

// Maps a movable image at an address that the kernel chooses. Each segment gets its access rights and alignment. A
// segment's bytes beyond file_bytes are zero. In a read-only segment those in the last page of the file's part are not.
// Error: which step failed and why.
Result<MappedImage> map_image(const Image& image);

// Replaces $ORIGIN in the program's own RPATH and RUNPATH. The dynamic linker would replace it with the folder of
// /proc/self/exe, which is the space daemon's. `folder`: the folder of the program's real file. To be called before the
// dynamic linker runs. The memory for the new paths stays mapped as long as the space exists. Without memory for them
// the program keeps its paths.
void settle_origin(const Image& image, const MappedImage& mapped, std::string_view folder);

// `text` with `folder` in place of $ORIGIN and ${ORIGIN}.
std::string with_origin(std::string_view text, std::string_view folder);

}  // namespace urakata::space
