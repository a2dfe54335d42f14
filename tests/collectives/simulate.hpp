// SPDX-License-Identifier: BSD-3-Clause
// All ranks of a collective in one process: runs their schedules in a random order of events, over real bytes.
//
// Made to find what a real run would hide. Every iteration starts and finishes at separate moments; between them a
// receive's destination holds rubbish, and what a send, copy or reduction reads must not change. Messages of one
// (source, destination, channel) meet in order; a send may finish before its receive is posted, or only after it, by
// the toss of a coin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/schedule.hpp"

namespace urakata::simulate {

using Bytes = std::vector<std::byte>;

struct Elements {
  std::uint64_t size = 1;    // payload bytes of an element
  std::uint64_t extent = 1;  // memory from one to the next
  // One element: right = left (op) right.
  std::function<void(const std::byte* left, std::byte* right)> combine;
};

class Simulation {
 public:
  // buffers[rank][buffer] are the caller's, changed by the run. `margin` bytes before a buffer's origin belong to it.
  Simulation(const std::vector<schedule::Schedule>& schedules, std::vector<std::vector<Bytes>>& buffers,
             Elements elements, std::uint64_t seed, std::int64_t margin = 0)
      : elements_(std::move(elements)), margin_(margin), random_(seed) {
    for (std::size_t r = 0; r < schedules.size(); ++r) {
      Rank rank{.schedule = &schedules[r], .user = &buffers[r], .temps = {}, .nodes = {}};
      for (std::uint64_t bytes : schedules[r].temps()) rank.temps.emplace_back(bytes, std::byte{0xa5});
      rank.nodes.resize(schedules[r].nodes().size());
      ranks_.push_back(std::move(rank));
    }
  }

  // Empty when everything has finished; else what went wrong.
  std::string run() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      for (schedule::NodeId n = 0; n < ranks_[r].nodes.size(); ++n) consider(r, n);
    }
    while (error_.empty() && !events_.empty()) {
      const std::size_t pick = std::uniform_int_distribution<std::size_t>(0, events_.size() - 1)(random_);
      std::swap(events_[pick], events_.back());
      const Event event = std::move(events_.back());
      events_.pop_back();
      event.start ? start(event.rank, event.node) : finish(event);
    }
    if (!error_.empty()) return error_;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      for (schedule::NodeId n = 0; n < ranks_[r].nodes.size(); ++n) {
        if (ranks_[r].nodes[n].finished != ranks_[r].schedule->nodes()[n].count) return story(r, n, "never finishes");
      }
    }
    for (const auto& [key, queue] : queues_) {
      if (!queue.sends.empty()) return story(std::get<0>(key), 0, "sends what nobody receives");
    }
    return {};
  }

 private:
  struct State {
    std::uint32_t started = 0;
    std::uint32_t finished = 0;
    bool queued = false;     // a start event is waiting
    std::vector<bool> done;  // of iterations that are past `finished` already
  };
  struct Rank {
    const schedule::Schedule* schedule;
    std::vector<Bytes>* user;
    std::vector<Bytes> temps;
    std::vector<State> nodes;
  };
  struct Event {
    bool start;
    std::uint32_t rank;
    schedule::NodeId node;
    std::uint32_t iteration;
    Bytes first, second;  // what was read at the start: a and, for reductions, b; or what was received
  };
  struct Message {
    std::uint32_t rank;
    schedule::NodeId node;
    std::uint32_t iteration;
    Bytes payload;
  };
  struct Queue {
    std::deque<Message> sends, recvs;
  };

  std::string story(std::uint32_t r, schedule::NodeId n, const std::string& what) {
    return ranks_[r].schedule->name() + ", rank " + std::to_string(r) + ", node " + std::to_string(n) + " " + what;
  }

  // Address of element k of an iteration's piece; checks the bounds of the buffer.
  std::byte* at(std::uint32_t r, schedule::NodeId n, const schedule::Place& place, std::uint32_t i,
                std::uint64_t bytes) {
    Rank& rank = ranks_[r];
    const bool user = place.buffer < rank.schedule->user_buffers();
    Bytes& buffer = user ? (*rank.user)[place.buffer] : rank.temps[place.buffer - rank.schedule->user_buffers()];
    const std::int64_t offset = schedule::offset_of(place, i) + (user ? margin_ : 0);
    const std::uint64_t count = bytes / elements_.size;
    const auto memory = static_cast<std::int64_t>(count == 0 ? 0 : (count - 1) * elements_.extent + elements_.size);
    if (bytes % elements_.size != 0) error_ = story(r, n, "cuts an element");
    if (bytes != 0 && (offset < 0 || offset + memory > static_cast<std::int64_t>(buffer.size()))) {
      error_ = story(r, n, "works outside buffer " + std::to_string(place.buffer));
    }
    return error_.empty() ? buffer.data() + (bytes == 0 ? 0 : offset) : nullptr;
  }
  Bytes read(std::uint32_t r, schedule::NodeId n, const schedule::Place& place, std::uint32_t i, std::uint64_t bytes) {
    Bytes out(bytes);
    const std::byte* from = at(r, n, place, i, bytes);
    if (from == nullptr || bytes == 0) return out;
    if (elements_.size == elements_.extent) {
      std::memcpy(out.data(), from, bytes);
      return out;
    }
    for (std::uint64_t k = 0; k * elements_.size < bytes; ++k) {
      std::memcpy(out.data() + k * elements_.size, from + k * elements_.extent, elements_.size);
    }
    return out;
  }
  void write(std::uint32_t r, schedule::NodeId n, const schedule::Place& place, std::uint32_t i, const Bytes& bytes) {
    std::byte* to = at(r, n, place, i, bytes.size());
    if (to == nullptr || bytes.empty()) return;
    if (elements_.size == elements_.extent) {
      std::memcpy(to, bytes.data(), bytes.size());
      return;
    }
    for (std::uint64_t k = 0; k * elements_.size < bytes.size(); ++k) {
      std::memcpy(to + k * elements_.extent, bytes.data() + k * elements_.size, elements_.size);
    }
  }

  bool may_start(std::uint32_t r, schedule::NodeId n) {
    const Rank& rank = ranks_[r];
    const State& state = rank.nodes[n];
    const schedule::Node& node = rank.schedule->nodes()[n];
    if (state.started == node.count || state.started - state.finished >= node.window) return false;
    for (const schedule::Edge& edge : rank.schedule->into(n)) {
      const State& from = rank.nodes[edge.from];
      if (edge.kind == schedule::EdgeKind::all) {
        if (from.finished != rank.schedule->nodes()[edge.from].count) return false;
      } else if (state.started >= edge.distance && from.finished <= state.started - edge.distance) {
        return false;
      }
    }
    return true;
  }
  void consider(std::uint32_t r, schedule::NodeId n) {
    State& state = ranks_[r].nodes[n];
    if (state.queued || !may_start(r, n)) return;
    state.queued = true;
    events_.push_back({.start = true, .rank = r, .node = n, .iteration = 0, .first = {}, .second = {}});
  }

  void start(std::uint32_t r, schedule::NodeId n) {
    State& state = ranks_[r].nodes[n];
    const schedule::Node& node = ranks_[r].schedule->nodes()[n];
    const std::uint32_t i = state.started++;
    const std::uint64_t bytes = schedule::payload(node, i);
    state.queued = false;
    Event end{.start = false, .rank = r, .node = n, .iteration = i, .first = {}, .second = {}};
    switch (node.kind) {
      case schedule::Kind::copy:
      case schedule::Kind::reduce:
        end.first = read(r, n, node.a, i, bytes);
        if (node.kind == schedule::Kind::reduce) end.second = read(r, n, node.b, i, bytes);
        events_.push_back(std::move(end));
        break;
      case schedule::Kind::send: {
        end.first = read(r, n, node.a, i, bytes);
        Queue& queue = queues_[{r, static_cast<std::uint32_t>(node.peer), node.channel}];
        const bool eager = std::bernoulli_distribution(0.5)(random_);
        queue.sends.push_back({.rank = r, .node = eager ? kGone : n, .iteration = i, .payload = end.first});
        if (eager) events_.push_back(std::move(end));
        match(queue, r, static_cast<std::uint32_t>(node.peer));
        break;
      }
      case schedule::Kind::recv: {
        write(r, n, node.b, i, Bytes(bytes, std::byte{0x5a}));
        Queue& queue = queues_[{static_cast<std::uint32_t>(node.peer), r, node.channel}];
        queue.recvs.push_back({.rank = r, .node = n, .iteration = i, .payload = Bytes(bytes)});
        match(queue, static_cast<std::uint32_t>(node.peer), r);
        break;
      }
    }
    consider(r, n);
  }

  void match(Queue& queue, std::uint32_t source, std::uint32_t destination) {
    while (!queue.sends.empty() && !queue.recvs.empty()) {
      Message out = std::move(queue.sends.front());
      Message in = std::move(queue.recvs.front());
      queue.sends.pop_front();
      queue.recvs.pop_front();
      if (out.payload.size() != in.payload.size()) {
        error_ = story(destination, in.node,
                       "receives " + std::to_string(out.payload.size()) + " bytes from rank " + std::to_string(source) +
                           " where it expects " + std::to_string(in.payload.size()));
        return;
      }
      if (out.node != kGone) {
        events_.push_back({.start = false,
                           .rank = source,
                           .node = out.node,
                           .iteration = out.iteration,
                           .first = out.payload,
                           .second = {}});
      }
      events_.push_back({.start = false,
                         .rank = destination,
                         .node = in.node,
                         .iteration = in.iteration,
                         .first = std::move(out.payload),
                         .second = {}});
    }
  }

  void finish(const Event& event) {
    const std::uint32_t r = event.rank;
    const schedule::NodeId n = event.node;
    const schedule::Node& node = ranks_[r].schedule->nodes()[n];
    const std::uint64_t bytes = schedule::payload(node, event.iteration);
    if (node.kind != schedule::Kind::recv && read(r, n, node.a, event.iteration, bytes) != event.first) {
      error_ = story(r, n, "reads what is changed meanwhile");
      return;
    }
    if (node.kind == schedule::Kind::reduce) {
      Bytes result = event.second;
      if (read(r, n, node.b, event.iteration, bytes) != event.second) {
        error_ = story(r, n, "adds to what is changed meanwhile");
        return;
      }
      for (std::uint64_t k = 0; k < bytes; k += elements_.size)
        elements_.combine(event.first.data() + k, result.data() + k);
      write(r, n, node.b, event.iteration, result);
    } else if (node.kind != schedule::Kind::send) {
      if (node.kind == schedule::Kind::recv) {
        if (read(r, n, node.b, event.iteration, bytes) != Bytes(bytes, std::byte{0x5a})) {
          error_ = story(r, n, "receives where something else writes");
          return;
        }
      }
      write(r, n, node.b, event.iteration, event.first);
    }
    State& state = ranks_[r].nodes[n];
    if (state.done.size() <= event.iteration) state.done.resize(event.iteration + 1);
    state.done[event.iteration] = true;
    while (state.finished < state.done.size() && state.done[state.finished]) ++state.finished;
    consider(r, n);
    for (schedule::NodeId next : ranks_[r].schedule->successors(n)) consider(r, next);
  }

  static constexpr schedule::NodeId kGone = ~schedule::NodeId{0};

  Elements elements_;
  std::int64_t margin_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<Event> events_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, Queue> queues_;
  std::string error_;
};

}  // namespace urakata::simulate
