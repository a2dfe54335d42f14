// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/phases.hpp"

namespace urakata::collectives {
namespace {

constexpr std::size_t kAhead = 8;  // receives of a ring that are posted at the same time

// Makes `next`, the receive of a step, wait for an earlier step. done: by step, the nodes after which the block
// received in that step may be sent on.
void bound_ahead(Plan& plan, const std::vector<Nodes>& done, const Nodes& next) {
  const std::size_t ahead = plan.arguments().in_turn ? 1 : kAhead;
  if (done.size() >= ahead) plan.after(done[done.size() - ahead], next);
}

}  // namespace

Nodes ring_gather(Plan& plan, const Ring& ring, const RingGather& gather) {
  const std::uint32_t n = ring.ranks;
  const auto block_at = [&](std::uint32_t step) { return (gather.own + n - step) % n; };
  std::vector<Nodes> received;
  Nodes all;
  for (std::uint32_t i = 0; i < gather.recvs; ++i) {
    const std::uint32_t block = block_at(i + 1);
    const Nodes nodes = plan.recv(ring.left, gather.block(block), ring.step + i);
    plan.each(gather.free(block), nodes);
    bound_ahead(plan, received, nodes);
    received.push_back(nodes);
    all = all + nodes;
  }
  for (std::uint32_t i = 0; i < gather.sends; ++i) {
    const Nodes nodes = plan.send(ring.right, i == 0 ? gather.own_piece : gather.block(block_at(i)), ring.step + i);
    plan.each(i > 0 && i <= gather.recvs ? received[i - 1] : gather.ready(block_at(i)), nodes);
  }
  return all;
}

RingReduced ring_reduce(Plan& plan, const Ring& ring, const RingReduce& reduce) {
  const std::uint32_t n = ring.ranks;
  RingReduced result;
  result.sent.resize(n);
  std::vector<Nodes> reduced;
  std::vector<Nodes> forwarded;  // by step: the nodes that send on the target made in that step
  Nodes ready;
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    const std::uint32_t out = (reduce.last + 2 * n - 1 - i) % n;
    const std::uint32_t in = (reduce.last + 2 * n - 2 - i) % n;
    const Nodes sent = plan.send(ring.right, i == 0 ? reduce.source(out) : reduce.target(out), ring.step + i);
    plan.each(ready, sent);
    if (i > 0 || reduce.source(out) == reduce.target(out)) result.sent[out] = sent;
    if (i > 0) {
      forwarded.push_back(sent);
    } else {
      result.source_read = sent;
    }

    const Piece source = reduce.source(in);
    const Piece target = reduce.target(in);
    const bool in_place = source == target;
    const Piece landing = in_place ? plan.inbox(target.bytes) : target;
    const Nodes arrived = plan.recv(ring.left, landing, ring.step + i);
    if (reduce.reuse != 0 && i >= reduce.reuse) plan.after(forwarded[i - reduce.reuse], arrived);
    bound_ahead(plan, reduced, arrived);
    ready = in_place ? plan.reduce(landing, target) : plan.reduce(source, target);
    plan.each(arrived, ready);
    reduced.push_back(ready);
    result.source_read = result.source_read + ready;
    if (in_place) plan.recycle(landing, ready, arrived);
  }
  result.ready = ready;
  return result;
}

}  // namespace urakata::collectives
