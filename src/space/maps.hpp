// SPDX-License-Identifier: BSD-3-Clause
// Reads the process's mappings as the kernel lists them (proc(5): maps, smaps). The reader makes system calls only and
// has its buffer in the object. So signal handlers may use it, and code that runs while any lock is held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace urakata::space {

class ProcLines {
 public:
  // `path`: "/proc/self/maps" or "/proc/self/smaps". If it cannot be opened, there are no lines.
  explicit ProcLines(const char* path);
  ~ProcLines();
  ProcLines(const ProcLines&) = delete;
  ProcLines& operator=(const ProcLines&) = delete;

  // The next line, valid until the next call; nullopt at the end.
  std::optional<std::string_view> next();

 private:
  int file_;
  std::size_t begin_ = 0;  // begin and end of the bytes that have been read and not returned yet
  std::size_t end_ = 0;
  std::array<char, 8192> buffer_;  // a line is shorter: its path has 4 KiB at most
};

struct MapsLine {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // of `begin` in the file
  bool readable = false;
  std::string_view path;  // path of the file, or the kernel's name, such as [heap]; empty: neither
};

// Parses a line that describes a mapping; nullopt for the other lines of smaps.
std::optional<MapsLine> maps_line(std::string_view line);

}  // namespace urakata::space
