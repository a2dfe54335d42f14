// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/owner.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "base/file_bytes.hpp"

namespace urakata::xdp {
namespace {

// From the highest bit on: the process's pid (the kernel has none with more bits), its pid namespace, when it began.
constexpr unsigned kPidBits = 22;
constexpr unsigned kNamespaceBits = 21;
constexpr unsigned kBeginBits = 21;
static_assert(kPidBits + kNamespaceBits + kBeginBits == 64);

constexpr std::uint64_t low(std::uint64_t value, unsigned bits) { return value & ((std::uint64_t{1} << bits) - 1); }

std::uint64_t owner_of(std::uint64_t pid, std::uint64_t pid_namespace, std::uint64_t begin) {
  return pid << (kNamespaceBits + kBeginBits) | low(pid_namespace, kNamespaceBits) << kBeginBits |
         low(begin, kBeginBits);
}

// When a process began, in the kernel's ticks since the machine's start; nullopt: the process has ended. The second
// field is the process's name, in brackets, which may hold any character. So fields are counted from the last bracket.
std::optional<std::uint64_t> begin_of(const std::string& process) {
  const std::string text = file_bytes("/proc/" + process + "/stat", 4096);
  std::size_t at = text.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  constexpr int kBegin = 22;
  for (int field = 2; field < kBegin; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  std::uint64_t ticks = 0;
  std::from_chars(text.data() + at + 1, text.data() + text.size(), ticks);
  return ticks;
}

// The kernel's number of this process's pid namespace; 0: it cannot be read.
std::uint64_t own_namespace() {
  struct stat about {};
  return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

// Whether /proc shows processes by the numbers that they have for this one.
bool proc_is_own() {
  std::array<char, 16> name{};
  const ssize_t bytes = readlink("/proc/self", name.data(), name.size());
  return bytes > 0 && std::to_string(getpid()) == std::string(name.data(), static_cast<std::size_t>(bytes));
}

}  // namespace

std::uint64_t own_owner() {
  return owner_of(static_cast<std::uint64_t>(getpid()), own_namespace(), begin_of("self").value_or(0));
}

bool may_live(std::uint64_t owner) {
  const std::uint64_t pid = owner >> (kNamespaceBits + kBeginBits);
  const std::uint64_t here = own_namespace();
  if (here == 0 || !proc_is_own() || owner_of(pid, here, owner) != owner) return true;
  const std::optional<std::uint64_t> begin = begin_of(std::to_string(pid));
  return begin && owner_of(pid, here, *begin) == owner;
}

}  // namespace urakata::xdp
