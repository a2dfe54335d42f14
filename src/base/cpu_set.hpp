// SPDX-License-Identifier: BSD-3-Clause
// A set of CPUs as the kernel numbers them (hardware threads), up to 4096.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata {

class CpuSet {
 public:
  static constexpr std::size_t kLimit = 4096;

  // `text` as in "0-3,8", the form of taskset and /sys; "" is the empty set. Error: what is wrong with the text.
  static Result<CpuSet> from_text(std::string_view text);
  // The CPUs that a thread may run on (0: the calling thread). Empty if the kernel refuses to tell. Keeps errno.
  static CpuSet allowed(pid_t thread = 0);

  // `cpu` must be below kLimit, here and for has().
  void add(std::size_t cpu) { words_[cpu / 64] |= bit(cpu); }
  bool has(std::size_t cpu) const { return (words_[cpu / 64] & bit(cpu)) != 0; }
  bool empty() const { return count() == 0; }
  std::size_t count() const;
  std::size_t first() const;  // the lowest CPU; kLimit if the set is empty
  bool meets(const CpuSet& other) const;

  CpuSet operator|(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet without(const CpuSet& other) const;
  bool operator==(const CpuSet& other) const = default;

  // Binds a thread (0: the calling thread) to the set. False: the kernel refuses. Keeps errno.
  bool bind(pid_t thread = 0) const;
  std::string text() const;

  // The words, 64 CPUs each, lowest first: the form of sched_setaffinity.
  const std::array<std::uint64_t, kLimit / 64>& words() const { return words_; }
  std::size_t used_words() const;  // number of words up to the last one that is not 0
  // The set with these first words; the others are 0. Words beyond kLimit are ignored.
  static CpuSet from_words(std::span<const std::uint64_t> words);

 private:
  static std::uint64_t bit(std::size_t cpu) { return std::uint64_t{1} << (cpu % 64); }

  std::array<std::uint64_t, kLimit / 64> words_{};
};

}  // namespace urakata
