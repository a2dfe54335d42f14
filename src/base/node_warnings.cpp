// SPDX-License-Identifier: BSD-3-Clause
#include "base/node_warnings.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace urakata::log {
namespace {

Mutex lock;  // protects the two below
bool withholding = false;
std::vector<std::string> kept;

}  // namespace

void warning_of_node(const char* format, ...) {
  std::array<char, 2000> text{};  // about as much as log::warning() shows
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  {
    const LockGuard guard(lock);
    if (withholding) {
      if (std::ranges::find(kept, text.data()) == kept.end()) kept.emplace_back(text.data());
      return;
    }
  }
  warning("%s", text.data());
}

void withhold_node_warnings() {
  const LockGuard guard(lock);
  withholding = true;
}

std::vector<std::string> withheld_node_warnings() {
  const LockGuard guard(lock);
  withholding = false;
  return std::exchange(kept, {});
}

}  // namespace urakata::log
