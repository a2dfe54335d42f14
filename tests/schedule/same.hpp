// SPDX-License-Identifier: BSD-3-Clause
// Whether two schedules are the same in all that a text can say.
#pragma once

#include <algorithm>
#include <tuple>

#include "schedule/schedule.hpp"

namespace urakata::schedule {

inline auto parts(const Place& p) { return std::tie(p.buffer, p.wrap, p.offset, p.stride); }

inline bool same(const Node& x, const Node& y) {
  return std::tie(x.kind, x.channel, x.window, x.peer, x.count, x.bytes, x.last_bytes) ==
             std::tie(y.kind, y.channel, y.window, y.peer, y.count, y.bytes, y.last_bytes) &&
         parts(x.a) == parts(y.a) && parts(x.b) == parts(y.b);
}

inline bool same(const Schedule& x, const Schedule& y) {
  return x.name() == y.name() && x.ranks() == y.ranks() && x.rank() == y.rank() &&
         x.user_buffers() == y.user_buffers() && std::ranges::equal(x.temps(), y.temps()) &&
         std::ranges::equal(x.edges(), y.edges()) && std::ranges::equal(x.sources(), y.sources()) &&
         std::ranges::equal(x.nodes(), y.nodes(), [](const Node& a, const Node& b) { return same(a, b); });
}

}  // namespace urakata::schedule
