// SPDX-License-Identifier: BSD-3-Clause
#include "engine/instance.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace urakata::engine {

using schedule::Kind;
using schedule::Node;
using schedule::NodeId;

namespace {
// The MPI library copies a message of up to 4 KiB and has sent it in well under a microsecond.
constexpr std::size_t kBriefMessages = 4;
constexpr std::uint64_t kBriefBytes = 4096;

bool begins_briefly(const schedule::Schedule& schedule) {
  std::size_t messages = 0;
  std::uint64_t bytes = 0;
  for (const NodeId id : schedule.sources()) {
    const Node& node = schedule.nodes()[id];
    if (!is_message(node)) continue;
    const std::uint32_t at_once = std::min(node.count, node.window);
    messages += at_once;
    if (node.kind == Kind::send) bytes += at_once * schedule::payload(node, 0);
  }
  return messages <= kBriefMessages && bytes <= kBriefBytes;
}

// The kind of node by which progress is counted. Receives rather than sends: a send ends as soon as the kernel has it.
Kind what_tells(const schedule::Schedule& schedule) {
  const auto nodes = schedule.nodes();
  const auto has = [&](Kind kind) { return std::ranges::any_of(nodes, [&](const Node& n) { return n.kind == kind; }); };
  return has(Kind::recv) ? Kind::recv : has(Kind::send) ? Kind::send : Kind::copy;
}
}  // namespace

Instance::Instance(const schedule::Schedule& schedule)
    : schedule_(schedule),
      brief_(begins_briefly(schedule)),
      counted_(what_tells(schedule)),
      buffers_(schedule),
      nodes_(schedule) {}

void Instance::activate() {
  in_flight_ = 0;
  handed_over_ = false;
  given_up_ = false;
  moves_.reset();
  phase_ = Phase::pack;
  nodes_.restart();
}

void Instance::finish_iteration(NodeId id, std::uint32_t iteration, std::uint64_t told) {
  if (const Node& node = schedule_.nodes()[id]; counts(node.kind)) {
    const std::uint64_t bytes = payload(node, iteration);
    progress.add(bytes - std::min(bytes, told) + 1);
  }
  nodes_.finish(id, iteration);
}

void Instance::complete(const transport::Ticket& ticket, int code) {
  --in_flight_;
  if (code != 0) fail(code);
  if (error != 0) return;
  if (ticket.node == kWhole) {
    if (progress.asked()) progress.add(executor->bytes() + 1);
  } else {
    finish_iteration(ticket.node, ticket.iteration, ticket.told);
  }
}

void Instance::fail(int code) {
  if (error == 0 && phase_ < Phase::unpack) error = code;
}

// Tells a member that this operation has failed; once per member and group.
void Instance::tell(std::int32_t member, transport::Transport& transport) {
  const auto peer = static_cast<std::size_t>(member);
  if (member < 0 || peer == group->rank || !group->to_be_told(member)) return;
  transport.tell(group->world[peer],
                 {.from = group->world[group->rank], .origin = group->context, .context = group->contexts[peer]});
}

// Asks each peer to discard messages of this instance that were sent and may wait for a receive that is never posted.
void Instance::withdraw(transport::Transport& transport) {
  for (NodeId id = 0; id < schedule_.nodes().size(); ++id) {
    const Node& node = schedule_.nodes()[id];
    if (node.kind != Kind::send) continue;
    const std::int32_t peer = group->world[static_cast<std::size_t>(node.peer)];
    const std::int32_t tag = group->tag_to(node.peer, sequence, node.channel);
    if (nodes_.under_way(id)) transport.withdraw(peer, group->world[group->rank], tag);
  }
}

void Instance::end_early(transport::Transport& transport) {
  if (!given_up_) {
    given_up_ = true;
    in_flight_ -= transport.cancel(this);
    for (const Node& node : schedule_.nodes()) tell(node.peer, transport);
    if (in_flight_ != 0) withdraw(transport);
    const auto ranks = static_cast<std::int32_t>(group->world.size());
    for (std::int32_t peer = 0; tells_all && peer < ranks; ++peer) tell(peer, transport);
  }
  if (in_flight_ == 0) phase_ = Phase::done;
}

void Instance::post(NodeId id, std::uint32_t iteration, transport::Transport& transport) {
  const Node& node = schedule_.nodes()[id];
  const bool sending = node.kind == Kind::send;
  transport::Message message;
  message.address = buffers_.at(sending ? node.a : node.b, iteration);
  message.bytes = payload(node, iteration);
  message.layout = layout;
  message.peer = group->world[static_cast<std::size_t>(node.peer)];
  if (!streams.empty() && !group->sites.empty()) {
    message.streams = streams[static_cast<std::size_t>(group->sites[static_cast<std::size_t>(node.peer)])];
  }
  message.tag = sending ? group->tag_to(node.peer, sequence, node.channel) : group->tag_from(sequence, node.channel);
  const transport::Ticket ticket{this, id, iteration, counts(node.kind) ? &progress : nullptr};
  bool finished = false;
  const int code = sending ? transport.send(message, ticket, &finished) : transport.recv(message, ticket, &finished);
  if (code != 0) {
    fail(code);
  } else if (finished) {
    finish_iteration(id, iteration);
  } else {
    ++in_flight_;
  }
}

void Instance::copy(const Node& node, std::uint32_t iteration, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (layout == nullptr) {
    std::memcpy(buffers_.at(node.b, iteration), buffers_.at(node.a, iteration), bytes);
    return;
  }
  // The holes between the elements are the program's and stay as they are.
  scratch_.resize(bytes);
  layout->pack(buffers_.at(node.a, iteration), 0, bytes / layout->size, scratch_.data());
  layout->unpack(scratch_.data(), buffers_.at(node.b, iteration), 0, bytes / layout->size);
}

Instance::Left Instance::start_iterations(NodeId id, transport::Transport& transport, Budget& budget) {
  const Node& node = schedule_.nodes()[id];
  const std::uint32_t window_end = nodes_.next(id) + node.window;
  while (nodes_.ready(id)) {
    const std::uint32_t i = nodes_.next(id);
    switch (node.kind) {
      case Kind::send:
      case Kind::recv:
        if (i == window_end) return Left::later;  // a window of messages ended at once: the rest in the next step
        nodes_.begin_next(id);
        ++budget.messages;
        post(id, i, transport);
        if (error != 0) return Left::waits;
        break;
      case Kind::copy:
      case Kind::reduce: {
        const std::uint64_t bytes = payload(node, i);
        if (!budget.allows(bytes)) return Left::no_budget;
        if (node.kind == Kind::copy) {
          copy(node, i, bytes);
        } else {
          if (reducer->callers_only && !budget.caller) return Left::later;
          if (bytes != 0) {
            reducer->apply(*reducer, buffers_.at(node.a, i), buffers_.at(node.b, i), bytes / reducer->size);
          }
        }
        budget.spend(bytes);
        nodes_.begin_next(id);
        finish_iteration(id, i);
        break;
      }
    }
  }
  return Left::waits;
}

// Runs each queued node, messages first: a message that a copy or reduction has made ready is sent before the next node
// computes. Computing ends with the first piece that the budget does not allow; its node then goes behind all others.
// Returns whether the queues are empty.
bool Instance::run_graph(transport::Transport& transport, Budget& budget) {
  ReadyQueue& messages = nodes_.messages();
  ReadyQueue& work = nodes_.work();
  bool works = !budget.spent();
  std::size_t late_messages = 0;  // message nodes in the queue that go on in another step
  std::size_t late_work = 0;
  while (error == 0) {
    const bool message = messages.size() > late_messages;
    if (!message && (!works || work.size() == late_work)) break;
    ReadyQueue& queue = message ? messages : work;
    const NodeId id = queue.pop();
    const Left left = start_iterations(id, transport, budget);
    if (left == Left::waits) {
      nodes_.note_waits(id);
      continue;
    }
    queue.put_off(id);
    ++(message ? late_messages : late_work);
    if (left == Left::no_budget) works = false;
  }
  return nodes_.queued() == 0;
}

// Packs and starts the whole graph within the starting call: io_uring requests belong to the thread that submits them.
// Returns whether the executor has ended it.
bool Instance::hand_over(transport::Transport& transport) {
  if (!handed_over_) {
    Budget unbounded{std::numeric_limits<std::int64_t>::max(), true, true};
    moves_.run(packs, true, unbounded);
    phase_ = Phase::graph;
    handed_over_ = true;
    ++in_flight_;
    if (!executor->start(buffers_.all(), this)) {
      --in_flight_;
      fail(transport.failures().code);
      end_early(transport);
      return false;
    }
  }
  return in_flight_ == 0;
}

bool Instance::advance(transport::Transport& transport, Budget& budget) {
  if (error != 0) {
    end_early(transport);
    return true;
  }
  if (executor != nullptr && phase_ < Phase::unpack) {
    if (!hand_over(transport)) return true;
    phase_ = Phase::unpack;
  }
  if (phase_ == Phase::pack) {
    if (!moves_.run(packs, true, budget)) return false;
    phase_ = Phase::graph;
  }
  if (phase_ == Phase::graph) {
    const bool all = run_graph(transport, budget);
    if (error != 0) {
      end_early(transport);
      return true;
    }
    if (!nodes_.all_finished()) return all;
    phase_ = Phase::unpack;
  }
  if (phase_ == Phase::unpack) {
    if (!moves_.run(unpacks, false, budget)) return false;
    phase_ = Phase::done;
  }
  return true;
}

}  // namespace urakata::engine
