// SPDX-License-Identifier: BSD-3-Clause
#include "space/mapping.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/system_error.hpp"
#include "space/descriptor.hpp"

namespace urakata::space {
namespace {

std::uint64_t page() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t down(std::uint64_t value, std::uint64_t unit) { return value & ~(unit - 1); }
std::uint64_t up(std::uint64_t value, std::uint64_t unit) { return down(value + unit - 1, unit); }

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

Error failed(const Image& image, const char* step) { return system_error(std::string(step) + " for " + image.path); }

Result<Mapping> reserve(const Image& image, std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t all = bytes + (alignment > page() ? alignment : 0);
  void* const start = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return failed(image, "no room in the address space");
  const auto first = reinterpret_cast<std::uint64_t>(start);
  const std::uint64_t aligned = up(first, alignment);
  if (aligned > first) munmap(start, aligned - first);
  if (first + all > aligned + bytes) munmap(at(aligned + bytes), first + all - aligned - bytes);
  return Mapping(at(aligned), bytes);
}

Status map_segment(const Image& image, const Segment& segment, std::uint64_t base, int file) {
  const int rights = ((segment.flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.flags & PF_W) != 0 ? PROT_WRITE : 0) |
                     ((segment.flags & PF_X) != 0 ? PROT_EXEC : 0);
  const std::uint64_t first = down(base + segment.address, page());
  const std::uint64_t file_end = base + segment.address + segment.file_bytes;
  const std::uint64_t end = up(base + segment.address + segment.memory_bytes, page());
  std::uint64_t mapped_end = first;
  if (segment.file_bytes > 0) {
    mapped_end = up(file_end, page());
    if (mmap(at(first), file_end - first, rights, MAP_PRIVATE | MAP_FIXED, file,
             static_cast<off_t>(down(segment.offset, page()))) == MAP_FAILED) {
      return failed(image, "mapping a segment");
    }
    if (segment.memory_bytes > segment.file_bytes && (rights & PROT_WRITE) != 0) {
      std::memset(at(file_end), 0, mapped_end - file_end);
    }
  }
  if (end > mapped_end &&
      mmap(at(mapped_end), end - mapped_end, rights, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
    return failed(image, "mapping zeroed pages");
  }
  return Nothing{};
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (start_ != nullptr) munmap(start_, bytes_);
}

Result<MappedImage> map_image(const Image& image) {
  if (!image.movable) return Error{image.path + " is not position-independent"};
  const Descriptor file(open(image.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failed(image, "opening");
  std::uint64_t alignment = page();
  std::uint64_t high = 0;
  for (const Segment& one : image.segments) {
    alignment = std::max(alignment, one.alignment);
    high = std::max(high, one.address + one.memory_bytes);
  }
  const std::uint64_t low = down(image.segments.front().address, alignment);
  Result<Mapping> memory = reserve(image, up(high, page()) - low, alignment);
  if (!memory) return memory.error();
  MappedImage mapped{std::move(*memory), 0};
  mapped.base = reinterpret_cast<std::uint64_t>(mapped.memory.start()) - low;
  for (const Segment& one : image.segments) {
    if (Status good = map_segment(image, one, mapped.base, file.number()); !good) return good.error();
  }
  return mapped;
}

std::string with_origin(std::string_view text, std::string_view folder) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bare = text.starts_with("${ORIGIN}") ? 9 : text.starts_with("$ORIGIN") ? 7 : 0;
    result += bare > 0 ? folder : text.substr(0, 1);
    text.remove_prefix(std::max<std::size_t>(bare, 1));
  }
  return result;
}

void settle_origin(const Image& image, const MappedImage& mapped, std::string_view folder) {
  if (image.dynamic == 0) return;
  const auto writable = [&](std::uint64_t address) {
    return std::ranges::any_of(image.segments, [&](const Segment& one) {
      return (one.flags & PF_W) != 0 && address >= one.address && address - one.address < one.file_bytes;
    });
  };
  if (!writable(image.dynamic)) return;
  auto* const entries = static_cast<ElfW(Dyn)*>(at(mapped.base + image.dynamic));
  std::uint64_t strings = 0;
  for (const ElfW(Dyn)* one = entries; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_STRTAB) strings = mapped.base + one->d_un.d_ptr;
  }
  if (strings == 0) return;
  for (ElfW(Dyn)* one = entries; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag != DT_RUNPATH && one->d_tag != DT_RPATH) continue;
    const std::string_view before(static_cast<const char*>(at(strings + one->d_un.d_val)));
    const std::string after = with_origin(before, folder);
    if (after == before) continue;
    void* const place = mmap(nullptr, after.size() + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    std::ranges::copy(after, static_cast<char*>(place));
    // The linker adds this to the string table's address; the sum may wrap around.
    one->d_un.d_val = reinterpret_cast<std::uint64_t>(place) - strings;
  }
}

}  // namespace urakata::space
