// SPDX-License-Identifier: BSD-3-Clause
#include "space/image.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/elf_file.hpp"

namespace urakata::space {
namespace {

using namespace std::string_view_literals;

// Names in a program's dynamic string table that tell its sanitizer: a needed library, or a function of the runtime.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSanitizers = {{
    {"libasan.so"sv, "AddressSanitizer"sv},
    {"__asan_init"sv, "AddressSanitizer"sv},
    {"libtsan.so"sv, "ThreadSanitizer"sv},
    {"__tsan_init"sv, "ThreadSanitizer"sv},
    {"liblsan.so"sv, "LeakSanitizer"sv},
    {"__lsan_init"sv, "LeakSanitizer"sv},
    {"__msan_init"sv, "MemorySanitizer"sv},
    {"__hwasan_init"sv, "HWAddressSanitizer"sv},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDevices = {{
    {"libcuda.so"sv, "CUDA"sv},
    {"libcudart.so"sv, "CUDA"sv},
    {"libamdhip64.so"sv, "HIP"sv},
    {"libze_loader.so"sv, "Level Zero"sv},
}};

bool sane(const Segment& segment) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46U;
  const std::uint64_t alignment = std::max<std::uint64_t>(segment.alignment, 1);
  return segment.file_bytes <= segment.memory_bytes && (alignment & (alignment - 1)) == 0 &&
         segment.address % alignment == segment.offset % alignment && segment.address < kMost &&
         segment.memory_bytes < kMost - segment.address;
}

void find_names(const ElfFile& file, Image& image) {
  std::uint64_t strings = UINT64_MAX;
  std::uint64_t size = 0;
  for (const ElfW(Dyn) & one : file.dynamic()) {
    if (one.d_tag == DT_STRTAB) strings = file.offset_of(one.d_un.d_ptr);
    if (one.d_tag == DT_STRSZ) size = one.d_un.d_val;
  }
  const std::string_view table = file.part(strings, size);
  for (const auto& [name, sanitizer] : kSanitizers) {
    if (table.find(name) != std::string_view::npos) image.sanitizer = sanitizer;
  }
  for (const auto& [name, devices] : kDevices) {
    if (table.find(name) != std::string_view::npos) image.devices = devices;
  }
}

}  // namespace

Result<Image> read_image(const std::string& path) {
  const Result<ElfFile> file = ElfFile::open(path);
  if (!file) return file.error();
  if (file->foreign()) return Error{"is built for another processor or word size"};
  const ElfW(Ehdr)& header = file->header();
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || (header.e_type != ET_DYN && header.e_type != ET_EXEC)) {
    return Error{"is no program (its ELF header is of another kind)"};
  }
  Image image;
  image.path = path;
  image.movable = header.e_type == ET_DYN;
  image.entry = header.e_entry;
  image.header_count = header.e_phnum;
  image.header_bytes = header.e_phentsize;
  bool headers_named = false;
  for (const ElfW(Phdr) & one : file->program_headers()) {
    if (one.p_type == PT_LOAD) {
      const Segment segment{one.p_vaddr, one.p_offset, one.p_filesz, one.p_memsz, one.p_align, one.p_flags};
      if (!sane(segment) || (!image.segments.empty() && image.segments.back().address > segment.address)) {
        return Error{"has a segment that cannot be mapped"};
      }
      if (!file->has(segment.offset, segment.file_bytes)) return Error{"is cut off: a segment is incomplete"};
      image.segments.push_back(segment);
    } else if (one.p_type == PT_INTERP) {
      image.interpreter = file->text(one.p_offset);
    } else if (one.p_type == PT_DYNAMIC) {
      image.dynamic = one.p_vaddr;
    } else if (one.p_type == PT_PHDR) {
      image.headers = one.p_vaddr;
      headers_named = true;
    } else if (one.p_type == PT_GNU_STACK) {
      image.executable_stack = (one.p_flags & PF_X) != 0;
    }
  }
  if (image.segments.empty()) return Error{"has nothing to be mapped"};
  if (!headers_named) {
    for (const Segment& one : image.segments) {
      if (header.e_phoff >= one.offset && header.e_phoff - one.offset < one.file_bytes) {
        image.headers = header.e_phoff - one.offset + one.address;
      }
    }
  }
  find_names(*file, image);
  return image;
}

}  // namespace urakata::space
