// SPDX-License-Identifier: BSD-3-Clause
#include "space/maps.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace urakata::space {

ProcLines::ProcLines(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

ProcLines::~ProcLines() {
  if (file_ >= 0) close(file_);
}

std::optional<std::string_view> ProcLines::next() {
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    if (const std::size_t length = rest.find('\n'); length != std::string_view::npos) {
      begin_ += length + 1;
      return rest.substr(0, length);
    }
    std::memmove(buffer_.data(), rest.data(), rest.size());
    begin_ = 0;
    end_ = rest.size();
    const ssize_t got = file_ < 0 ? 0 : read(file_, buffer_.data() + end_, buffer_.size() - end_);
    if (got <= 0) return std::nullopt;
    end_ += static_cast<std::size_t>(got);
  }
}

std::optional<MapsLine> maps_line(std::string_view line) {
  MapsLine found;
  // Takes a hexadecimal number and the character after it.
  const auto take = [&line](std::uint64_t& number, char behind) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
    const auto length = static_cast<std::size_t>(end - line.data());
    if (error != std::errc{} || length == line.size() || *end != behind) return false;
    line.remove_prefix(length + 1);
    return true;
  };
  constexpr std::size_t kRights = 5;  // "r-xp "
  if (!take(found.begin, '-') || !take(found.end, ' ') || line.size() < kRights) return std::nullopt;
  found.readable = line.front() == 'r';
  line.remove_prefix(kRights);
  if (!take(found.offset, ' ')) return std::nullopt;
  for (int field = 0; field < 2; ++field) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  found.path = line;
  return found;
}

}  // namespace urakata::space
