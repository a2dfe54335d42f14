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

  // "0-3,8": the form of taskset and /sys. Error: what is wrong with the text.
  static Result<CpuSet> from_text(std::string_view text);
  // The CPUs that a thread may run on (0: the calling one); empty where the kernel does not say.
  static CpuSet allowed(pid_t thread = 0);

  void add(std::size_t cpu) { words_[cpu / 64] |= bit(cpu); }
  bool has(std::size_t cpu) const { return (words_[cpu / 64] & bit(cpu)) != 0; }
  bool empty() const { return count() == 0; }
  std::size_t count() const;
  std::size_t first() const;  // kLimit where empty
  bool meets(const CpuSet& other) const;

  CpuSet operator|(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet without(const CpuSet& other) const;
  bool operator==(const CpuSet& other) const = default;

  // Binds a thread (0: the calling one). False where the kernel refuses.
  bool bind(pid_t thread = 0) const;
  std::string text() const;

  // The words, 64 CPUs each, lowest first: the form of sched_setaffinity.
  const std::array<std::uint64_t, kLimit / 64>& words() const { return words_; }
  std::size_t used_words() const;  // up to the last that is not 0
  // The set whose first words these are.
  static CpuSet from_words(std::span<const std::uint64_t> words);

 private:
  static std::uint64_t bit(std::size_t cpu) { return std::uint64_t{1} << (cpu % 64); }

  std::array<std::uint64_t, kLimit / 64> words_{};
};

}  // namespace urakata
