// SPDX-License-Identifier: BSD-3-Clause
// A program or library as it lies in the file system: its bytes, its headers, its dynamic section.
//
// Every read is checked against the end of the file, since files may be cut or made up.
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
  // Error: not readable, no ELF file, or without its headers; as the rest of a sentence about the file.
  static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) = delete;
  ~ElfFile();

  // Of another machine or word size than this build; then there are no program headers.
  bool foreign() const;
  const ElfW(Ehdr) & header() const { return header_; }
  const std::vector<ElfW(Phdr)>& program_headers() const { return program_headers_; }
  // The dynamic section up to its end; empty where there is none.
  std::vector<ElfW(Dyn)> dynamic() const;

  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (!has(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  // As many of the bytes as the file has. Lives as long as this object.
  std::string_view part(std::uint64_t offset, std::uint64_t bytes) const;
  std::string text(std::uint64_t offset) const;          // up to its zero
  std::uint64_t offset_of(std::uint64_t address) const;  // in the file; the largest number where it is not there

 private:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {}
  Status read_headers();

  std::string_view bytes_;  // mapped
  ElfW(Ehdr) header_{};
  std::vector<ElfW(Phdr)> program_headers_;
};

}  // namespace urakata
