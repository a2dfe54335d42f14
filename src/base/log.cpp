// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "base/hash.hpp"
#include "base/launcher.hpp"

namespace urakata::log {
namespace {

constexpr std::size_t kLine = 2048;
constexpr int kUnknown = -2;  // the launcher has not been asked yet

constinit std::atomic<unsigned> verbosity{1};
constinit std::atomic<int> known_rank{kUnknown};
constinit std::array<std::atomic<std::uint64_t>, 256> given{};  // hashes of the warnings given; 0: free

// True the first time that a text is seen. When the table is full, everything counts as new.
bool first_time(std::string_view text) {
  const std::uint64_t number = hash(text) | 1U;
  for (std::size_t probe = 0; probe < given.size(); ++probe) {
    std::atomic<std::uint64_t>& entry = given[(number + probe) % given.size()];
    std::uint64_t found = 0;
    if (entry.compare_exchange_strong(found, number, std::memory_order_relaxed)) return true;
    if (found == number) return false;
  }
  return true;
}

void say(Level level, const char* format, va_list arguments) {
  if (!shown(level)) return;
  const int saved = errno;
  std::array<char, kLine> line;
  int length = rank() >= 0 ? std::snprintf(line.data(), kLine, "urakata: [rank %d] ", rank())
                           : std::snprintf(line.data(), kLine, "urakata: ");
  length +=
      std::max(0, std::vsnprintf(line.data() + length, kLine - static_cast<std::size_t>(length), format, arguments));
  std::size_t bytes = std::min(static_cast<std::size_t>(length), kLine - 2);
  if (level != Level::warning || first_time({line.data(), bytes})) {
    line[bytes++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), bytes);
  }
  errno = saved;
}

}  // namespace

void set_verbosity(unsigned level) { verbosity.store(level, std::memory_order_relaxed); }
void set_rank(int rank) { known_rank.store(rank, std::memory_order_relaxed); }
int rank() {
  int rank = known_rank.load(std::memory_order_relaxed);
  if (rank == kUnknown) {
    rank = launcher().rank;
    known_rank.store(rank, std::memory_order_relaxed);
  }
  return rank;
}
bool shown(Level level) { return static_cast<unsigned>(level) <= verbosity.load(std::memory_order_relaxed); }

void error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(Level::error, format, arguments);
  va_end(arguments);
}

void warning(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(Level::warning, format, arguments);
  va_end(arguments);
}

void information(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(Level::information, format, arguments);
  va_end(arguments);
}

void detail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(Level::detail, format, arguments);
  va_end(arguments);
}

void warning_of_all(const char* format, ...) {
  if (rank() > 0) return;
  va_list arguments;
  va_start(arguments, format);
  say(Level::warning, format, arguments);
  va_end(arguments);
}

}  // namespace urakata::log
