// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/phases.hpp"

namespace urakata::collectives {
namespace {

constexpr std::uint64_t kWorthSplitting = 128UL * 1024;  // bytes from which a half is exchanged in two messages

struct Made {
  std::uint32_t first, last;  // parts
  Nodes nodes;
};

Nodes makers(const std::vector<Made>& made, std::uint32_t first, std::uint32_t last) {
  Nodes nodes;
  for (const Made& m : made) {
    if (m.first < last && first < m.last) nodes = nodes + m.nodes;
  }
  return nodes;
}

}  // namespace

Halving halve(Plan& plan, const Partition& parts, std::uint32_t index,
              const std::function<std::uint32_t(std::uint32_t)>& rank_of, BufferId source, BufferId work,
              const Nodes& ready, std::uint32_t step, std::uint32_t active) {
  Halving halving;
  std::uint32_t first = 0;
  std::uint32_t last = active;
  std::vector<Made> made{{first, last, ready}};
  // A long half is exchanged in two messages. The quarter that its receiver gives away next goes first, so that it can
  // be sent on while the other quarter is still being reduced. Both ends see the same sizes.
  const auto quarters = [&](std::uint32_t from, std::uint32_t to, std::uint32_t who) {
    if (to - from < 2 || parts.range(work, from, to).bytes < kWorthSplitting) return std::vector<Made>{{from, to, {}}};
    const std::uint32_t middle = from + (to - from) / 2;
    if (who < middle) return std::vector<Made>{{middle, to, {}}, {from, middle, {}}};
    return std::vector<Made>{{from, middle, {}}, {middle, to, {}}};
  };
  for (std::uint32_t distance = active / 2; distance >= 1; distance /= 2, step += 2) {
    Halving::Step s;
    const std::uint32_t middle = first + distance;
    const bool low = index < middle;
    const std::uint32_t partner = index ^ distance;
    s.peer = rank_of(partner);
    s.keep_first = low ? first : middle;
    s.keep_last = low ? middle : last;
    s.give_first = low ? middle : first;
    s.give_last = low ? last : middle;

    std::uint32_t k = 0;
    for (const Made& part : quarters(s.give_first, s.give_last, partner)) {
      const Nodes sent = plan.send(s.peer, parts.range(source, part.first, part.last), step + k++);
      plan.after(makers(made, part.first, part.last), sent);
      if (source == work) {
        s.gave = s.gave + sent;
      } else {
        halving.source_read = halving.source_read + sent;
      }
    }
    std::vector<Made> next;
    k = 0;
    for (const Made& part : quarters(s.keep_first, s.keep_last, index)) {
      const Piece own = parts.range(source, part.first, part.last);
      const Piece result = parts.range(work, part.first, part.last);
      const Piece landing = source == work ? plan.inbox(own.bytes) : result;
      const Nodes arrived = plan.recv(s.peer, landing, step + k++);
      const Nodes reduced = source == work ? plan.reduce(landing, result) : plan.reduce(own, result);
      plan.each(arrived, reduced);
      plan.after(makers(made, part.first, part.last), reduced);
      if (source == work) {
        plan.recycle(landing, reduced, arrived);
      } else {
        halving.source_read = halving.source_read + reduced;
      }
      next.push_back({part.first, part.last, reduced});
    }
    made = std::move(next);
    first = s.keep_first;
    last = s.keep_last;
    source = work;
    halving.steps.push_back(std::move(s));
  }
  halving.ready = makers(made, first, last);
  return halving;
}

}  // namespace urakata::collectives
