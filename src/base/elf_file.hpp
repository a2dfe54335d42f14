// SPDX-License-Identifier: BSD-3-Clause
// A program or library as it lies in the file system: its bytes, its headers, its dynamic section.
//
// Every read is checked against the file's size at open(), since a file may be truncated or forged.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace urakata {

class ElfFile {
 public:
  // Error: the file cannot be read, is no ELF file, or lacks headers. The message is a predicate without a subject,
  // such as "is no ELF program": the caller puts the file's name before it.
  static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) = delete;
  ~ElfFile();

  // Whether the file is for another machine or word size than this build. If so, program_headers() is empty.
  bool foreign() const;
  const ElfW(Ehdr) & header() const { return header_; }
  const std::vector<ElfW(Phdr)>& program_headers() const { return program_headers_; }
  // The dynamic section without its final DT_NULL; empty if the file has none.
  std::vector<ElfW(Dyn)> dynamic() const;

  // Offsets below are in the file. has(): whether all of the range lies in the file. at(): nullopt if has() is false.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (!has(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  // The range, cut at the end of the file. The result lives as long as this object.
  std::string_view part(std::uint64_t offset, std::uint64_t bytes) const;
  std::string text(std::uint64_t offset) const;          // up to a zero or the file's end
  std::uint64_t offset_of(std::uint64_t address) const;  // of a virtual address; UINT64_MAX: not in the file

 private:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {}
  Status read_headers();

  std::string_view bytes_;  // the mapped file; empty: moved from
  ElfW(Ehdr) header_{};
  std::vector<ElfW(Phdr)> program_headers_;
};

}  // namespace urakata
