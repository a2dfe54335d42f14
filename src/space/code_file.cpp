// SPDX-License-Identifier: BSD-3-Clause
#include "space/code_file.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "space/maps.hpp"

namespace urakata::space {
namespace {

template <class T>
const T* at(std::uint64_t address) {
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The dynamic symbols of a file that the dynamic linker has mapped.
struct Symbols {
  std::uint64_t bias = 0;  // what was added to the file's addresses
  const ElfW(Sym) * first = nullptr;
  const char* texts = nullptr;
  std::size_t count = 0;
};

std::size_t count_by_gnu_hash(const std::uint32_t* table) {
  const std::uint32_t buckets = table[0];
  const std::uint32_t offset = table[1];
  const std::uint32_t* const bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < offset) return offset;
  while ((chain[last - offset] & 1U) == 0) ++last;
  return last + 1;
}

Symbols symbols_of(std::uint64_t base) {
  Symbols all;
  const auto& header = *at<ElfW(Ehdr)>(base);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return all;
  const auto* const segments = at<ElfW(Phdr)>(base + header.e_phoff);
  std::uint64_t low = UINT64_MAX;
  std::uint64_t dynamic = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) low = std::min<std::uint64_t>(low, segments[i].p_vaddr);
    if (segments[i].p_type == PT_DYNAMIC) dynamic = segments[i].p_vaddr;
  }
  if (low == UINT64_MAX || dynamic == 0) return all;
  all.bias = base - low;
  // The dynamic linker has added the bias to these values if the section was writable.
  const auto place = [&](std::uint64_t value) { return value < base ? value + all.bias : value; };
  for (const auto* one = at<ElfW(Dyn)>(all.bias + dynamic); one->d_tag != DT_NULL; ++one) {
    const std::uint64_t value = place(one->d_un.d_ptr);
    if (one->d_tag == DT_SYMTAB) all.first = at<ElfW(Sym)>(value);
    if (one->d_tag == DT_STRTAB) all.texts = at<char>(value);
    if (one->d_tag == DT_GNU_HASH) all.count = count_by_gnu_hash(at<std::uint32_t>(value));
    if (one->d_tag == DT_HASH && all.count == 0) all.count = at<std::uint32_t>(value)[1];
  }
  if (all.first == nullptr || all.texts == nullptr) all.count = 0;
  return all;
}

const char* symbol_at(std::uint64_t base, std::uint64_t address) {
  const Symbols all = symbols_of(base);
  for (std::size_t i = 0; i < all.count; ++i) {
    const ElfW(Sym)& one = all.first[i];
    const std::uint64_t begin = all.bias + one.st_value;
    if (ELF64_ST_TYPE(one.st_info) == STT_FUNC && one.st_shndx != SHN_UNDEF && address >= begin &&
        address - begin < one.st_size) {
      return all.texts + one.st_name;
    }
  }
  return nullptr;
}

// Paths, one after the other, each with its terminating zero.
std::array<char, 16384> paths;

}  // namespace

void find_code_files(std::span<CodeFile> places) {
  std::size_t used = 1;  // the empty path is the first
  std::uint64_t base = 0;
  bool readable = false;
  std::array<char, 4096> path;  // of the file that is mapped from `base` on
  std::size_t length = 0;
  ProcLines lines("/proc/self/maps");
  while (const auto line = lines.next()) {
    const auto mapping = maps_line(*line);
    if (!mapping) continue;
    const std::string_view present(path.data(), length);
    if (mapping->offset == 0 && !mapping->path.empty()) {
      base = mapping->begin;
      readable = mapping->readable;
      length = std::min(mapping->path.size(), path.size());
      std::memcpy(path.data(), mapping->path.data(), length);
    } else if (mapping->path != present) {
      continue;
    }
    std::size_t kept = 0;  // position of the path in `paths`; 0: not copied yet
    for (CodeFile& one : places) {
      if (one.address < mapping->begin || one.address >= mapping->end) continue;
      if (kept == 0 && used + length < paths.size()) {
        kept = used;
        std::memcpy(paths.data() + kept, path.data(), length);
        paths[kept + length] = '\0';
        used = kept + length + 1;
      }
      one.base = base;
      one.file = paths.data() + kept;
      one.symbol = readable ? symbol_at(base, one.address) : nullptr;
    }
  }
}

}  // namespace urakata::space
