// Puts a program or a dynamic linker into the current address space, as the kernel does at exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "space/image.hpp"

namespace urakata::space {

// Memory with one owner; unmapped with it, unless it was kept.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* start, std::size_t bytes) : start_(static_cast<std::byte*>(start)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : start_(other.start_), bytes_(other.bytes_) { other.keep(); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  // Leaves the memory mapped: from now on it is the task's.
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

// Maps a movable image at an address of the kernel's choice, each segment with its rights and alignment, the rest of
// the last page and further pages zeroed. Error: which step failed and why.
Result<MappedImage> map_image(const Image& image);

// Replaces $ORIGIN in the program's own RPATH and RUNPATH, since the linker would take the folder of /proc/self/exe,
// which is the daemon's. `folder` is that of the program's real file. To be called before the linker runs; what it maps
// for the new texts stays for as long as the space. Without memory for them the program keeps its texts.
void settle_origin(const Image& image, const MappedImage& mapped, std::string_view folder);

// `text` with $ORIGIN and ${ORIGIN} replaced.
std::string with_origin(std::string_view text, std::string_view folder);

}  // namespace urakata::space
