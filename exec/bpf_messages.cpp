// SPDX-License-Identifier: BSD-3-Clause
#include "bpf_messages.hpp"

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace urakata {

namespace {

// The messages since the last failure. The verifier gives its reason near their end.
std::string& said() {
  static std::string text;
  return text;
}

// Keeps a message of any length: the verifier's whole log is one.
int keep(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length <= 0) return length;
  const std::size_t before = said().size();
  said().resize(before + static_cast<std::size_t>(length) + 1);
  std::vsnprintf(said().data() + before, static_cast<std::size_t>(length) + 1, format, arguments);
  said().pop_back();
  return length;
}
int keep_bpf(libbpf_print_level level, const char* format, va_list arguments) {
  return level == LIBBPF_DEBUG ? 0 : keep(format, arguments);
}
int keep_xdp(libxdp_print_level level, const char* format, va_list arguments) {
  return level == LIBXDP_DEBUG ? 0 : keep(format, arguments);
}

}  // namespace

void keep_bpf_messages() {
  libbpf_set_print(keep_bpf);
  libxdp_set_print(keep_xdp);
}

Error bpf_failure(const std::string& doing, int code) {
  std::array<char, 256> name{};
  libbpf_strerror(code, name.data(), name.size());  // also knows libbpf's own errors
  std::string text = doing + ": " + name.data();
  constexpr std::size_t kMost = 800;
  std::string log = std::exchange(said(), {});
  if (log.size() > kMost) log.erase(0, log.find('\n', log.size() - kMost) + 1);
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return Error{log.empty() ? text : text + "\n" + log};
}

}  // namespace urakata
