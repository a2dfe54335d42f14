// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu_set.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>

namespace urakata {

Result<CpuSet> CpuSet::from_text(std::string_view text) {
  CpuSet set;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  const auto bad = [&] {
    return Error{"\"" + std::string(text) + "\" is no list of CPUs such as 0-3,8 with numbers below " +
                 std::to_string(kLimit)};
  };
  const auto number = [&](std::size_t& value) {
    const auto [stop, error] = std::from_chars(at, end, value);
    at = stop;
    return error == std::errc{} && value < kLimit;
  };
  while (at != end) {
    std::size_t first = 0;
    if (!number(first)) return bad();
    std::size_t last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return bad();
    }
    for (std::size_t cpu = first; cpu <= last; ++cpu) set.add(cpu);
    if (at == end) break;
    if (*at != ',' || at + 1 == end) return bad();
    ++at;
  }
  return set;
}

CpuSet CpuSet::allowed(pid_t thread) {
  CpuSet set;
  const int saved = errno;
  const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof(set.words_), set.words_.data());
  errno = saved;
  return bytes < 0 ? CpuSet{} : set;
}

std::size_t CpuSet::count() const {
  int count = 0;
  for (const std::uint64_t word : words_) count += std::popcount(word);
  return static_cast<std::size_t>(count);
}

std::size_t CpuSet::first() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) return i * 64 + static_cast<std::size_t>(std::countr_zero(words_[i]));
  }
  return kLimit;
}

bool CpuSet::meets(const CpuSet& other) const { return !(*this & other).empty(); }

CpuSet CpuSet::operator|(const CpuSet& other) const {
  CpuSet result = *this;
  for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] |= other.words_[i];
  return result;
}

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet result = *this;
  for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= other.words_[i];
  return result;
}

CpuSet CpuSet::without(const CpuSet& other) const {
  CpuSet result = *this;
  for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.words_[i];
  return result;
}

std::size_t CpuSet::used_words() const {
  std::size_t used = words_.size();
  while (used != 0 && words_[used - 1] == 0) --used;
  return used;
}

CpuSet CpuSet::from_words(std::span<const std::uint64_t> words) {
  CpuSet result;
  std::ranges::copy(words.first(std::min(words.size(), result.words_.size())), result.words_.begin());
  return result;
}

bool CpuSet::bind(pid_t thread) const {
  const int saved = errno;
  const long result = syscall(SYS_sched_setaffinity, thread, sizeof(words_), words_.data());
  errno = saved;
  return result == 0;
}

std::string CpuSet::text() const {
  std::string text;
  for (std::size_t cpu = first(); cpu < kLimit; ++cpu) {
    if (!has(cpu)) continue;
    std::size_t last = cpu;
    while (last + 1 < kLimit && has(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpu);
    if (last > cpu) text += '-' + std::to_string(last);
    cpu = last;
  }
  return text;
}

}  // namespace urakata
