// SPDX-License-Identifier: BSD-3-Clause
// What must hold for any text whatever: it is refused with a line, or it reads back to the identical schedules.
#pragma once

#include <string>
#include <string_view>

#include "schedule/text.hpp"

namespace urakata::schedule {

// Empty: it holds.
inline std::string round_trip(std::string_view text) {
  const auto first = from_text(text);
  if (!first) return first.error().message.starts_with("line ") ? "" : "no line in: " + first.error().message;
  const std::string written = to_text(*first);
  const auto second = from_text(written);
  if (!second) return "does not read back: " + second.error().message + "\n" + written;
  return to_text(*second) == written ? "" : "reads back to something else:\n" + written;
}

}  // namespace urakata::schedule
