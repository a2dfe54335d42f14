// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_bytes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace urakata {

std::string file_bytes(const std::string& path, std::size_t most) {
  // Starts small: most files have a few hundred bytes, and memory touched here stays with each rank.
  constexpr std::size_t kFirst = 1 << 10, kMostAtOnce = 64 << 10;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string bytes;
  std::size_t there = 0;
  for (;;) {
    bytes.resize(there + std::min(std::clamp(there, kFirst, kMostAtOnce), most - there));
    const ssize_t got = read(file, bytes.data() + there, bytes.size() - there);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // an error, the end of the file, or `most` bytes
    there += static_cast<std::size_t>(got);
  }
  close(file);
  bytes.resize(there);
  return bytes;
}

}  // namespace urakata
