// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

constexpr std::uint64_t kMaxIterations = std::numeric_limits<std::uint32_t>::max();

Place stepped(Place place, const Chunks& chunks) {
  if (place.stride == 0 && chunks.count > 1) place.stride = static_cast<std::int64_t>(chunks.bytes);
  return place;
}

// Kahn's algorithm over the edges that hold back the first iteration; the rest is what a cycle has caught.
std::vector<NodeId> caught_in_cycle(std::size_t nodes, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> waiting(nodes, 0);
  std::vector<std::vector<NodeId>> out(nodes);
  for (const Edge& edge : edges) {
    if (edge.distance != 0) continue;
    ++waiting[edge.to];
    out[edge.from].push_back(edge.to);
  }
  std::vector<NodeId> ready;
  for (NodeId n = 0; n < nodes; ++n) {
    if (waiting[n] == 0) ready.push_back(n);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (NodeId next : out[ready[i]]) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  std::vector<NodeId> caught;
  for (NodeId n = 0; n < nodes; ++n) {
    if (waiting[n] != 0) caught.push_back(n);
  }
  return caught;
}

// An `all` edge whose end leads back to its start and so waits for itself; nullptr if there is none. Called after
// caught_in_cycle(), so that each cycle left has an edge with a distance.
const Edge* waits_for_itself(std::size_t nodes, const std::vector<Edge>& edges) {
  const bool any = std::any_of(edges.begin(), edges.end(), [](const Edge& e) { return e.distance != 0; });
  if (!any) return nullptr;
  std::vector<std::vector<NodeId>> out(nodes);
  for (const Edge& edge : edges) out[edge.from].push_back(edge.to);
  for (const Edge& edge : edges) {
    if (edge.kind != EdgeKind::all) continue;
    std::vector<bool> seen(nodes, false);
    std::vector<NodeId> open{edge.to};
    seen[edge.to] = true;
    while (!open.empty()) {
      const NodeId n = open.back();
      open.pop_back();
      if (n == edge.from) return &edge;
      for (NodeId next : out[n]) {
        if (!seen[next]) {
          seen[next] = true;
          open.push_back(next);
        }
      }
    }
  }
  return nullptr;
}

}  // namespace

Chunks whole(std::uint64_t bytes) { return {1, bytes, bytes}; }

Chunks cut(std::uint64_t bytes, std::uint64_t piece, std::uint64_t element) {
  piece = std::max(element, piece / element * element);
  if (bytes <= piece) return whole(bytes);
  // Never more iterations than a node can count: longer pieces then.
  while ((bytes + piece - 1) / piece > kMaxIterations) piece *= 2;
  const std::uint64_t count = (bytes + piece - 1) / piece;
  return {static_cast<std::uint32_t>(count), piece, bytes - (count - 1) * piece};
}

Builder::Builder(std::string name, std::uint32_t ranks, std::uint32_t rank, BufferId user_buffers) {
  schedule_.name_ = std::move(name);
  schedule_.ranks_ = ranks;
  schedule_.rank_ = rank;
  schedule_.user_buffers_ = user_buffers;
}

BufferId Builder::temp(std::uint64_t bytes) {
  schedule_.temps_.push_back(bytes);
  return schedule_.user_buffers_ + static_cast<BufferId>(schedule_.temps_.size() - 1);
}

NodeId Builder::add(Node node) {
  schedule_.nodes_.push_back(node);
  return static_cast<NodeId>(schedule_.nodes_.size() - 1);
}

NodeId Builder::send(std::uint32_t peer, Place from, Chunks chunks, Flow flow) {
  Node node;
  node.kind = Kind::send;
  node.channel = flow.channel;
  node.window = flow.window;
  node.peer = static_cast<std::int32_t>(peer);
  node.count = chunks.count;
  node.bytes = chunks.bytes;
  node.last_bytes = chunks.last_bytes;
  node.a = stepped(from, chunks);
  return add(node);
}

NodeId Builder::recv(std::uint32_t peer, Place to, Chunks chunks, Flow flow) {
  Node node;
  node.kind = Kind::recv;
  node.channel = flow.channel;
  node.window = flow.window;
  node.peer = static_cast<std::int32_t>(peer);
  node.count = chunks.count;
  node.bytes = chunks.bytes;
  node.last_bytes = chunks.last_bytes;
  node.b = stepped(to, chunks);
  return add(node);
}

NodeId Builder::copy(Place from, Place to, Chunks chunks) {
  Node node;
  node.kind = Kind::copy;
  node.count = chunks.count;
  node.bytes = chunks.bytes;
  node.last_bytes = chunks.last_bytes;
  node.a = stepped(from, chunks);
  node.b = stepped(to, chunks);
  return add(node);
}

NodeId Builder::reduce(Place left, Place right_and_result, Chunks chunks) {
  const NodeId n = copy(left, right_and_result, chunks);
  schedule_.nodes_[n].kind = Kind::reduce;
  return n;
}

NodeId Builder::send(std::uint32_t peer, Place from, std::uint64_t bytes, std::uint8_t channel) {
  return send(peer, from, whole(bytes), {.window = 1, .channel = channel});
}

NodeId Builder::recv(std::uint32_t peer, Place to, std::uint64_t bytes, std::uint8_t channel) {
  return recv(peer, to, whole(bytes), {.window = 1, .channel = channel});
}

NodeId Builder::copy(Place from, Place to, std::uint64_t bytes, std::uint64_t element) {
  return copy(from, to, cut(bytes, kSliceBytes, element));
}

NodeId Builder::reduce(Place left, Place right_and_result, std::uint64_t bytes, std::uint64_t element) {
  return reduce(left, right_and_result, cut(bytes, kSliceBytes, element));
}

void Builder::after(NodeId from, NodeId to) {
  if (from == kNone || to == kNone) return;
  schedule_.edges_.push_back({from, to, EdgeKind::all, 0});
}

void Builder::each(NodeId from, NodeId to, std::uint32_t distance) {
  if (from == kNone || to == kNone) return;
  schedule_.edges_.push_back({from, to, EdgeKind::each, distance});
}

Result<Schedule> Builder::commit() {
  Schedule& s = schedule_;
  const auto buffers = s.user_buffers_ + s.temps_.size();
  auto bad = [&](NodeId n, const std::string& why) {
    return Error{"schedule " + s.name_ + ", rank " + std::to_string(s.rank_) + ", node " + std::to_string(n) + " (" +
                 word(s.nodes_[n].kind) + "): " + why};
  };
  if (buffers > kMaxBuffers) {
    return Error{"schedule " + s.name_ + ", rank " + std::to_string(s.rank_) + ": " + std::to_string(buffers) +
                 " buffers; there can be " + std::to_string(kMaxBuffers)};
  }
  for (NodeId n = 0; n < s.nodes_.size(); ++n) {
    const Node& node = s.nodes_[n];
    const bool message = node.kind == Kind::send || node.kind == Kind::recv;
    if (node.count == 0) return bad(n, "has no iteration; a node needs at least one");
    if (node.window == 0 || node.window > kMaxWindow) {
      return bad(n, "window " + std::to_string(node.window) + " is not in 1.." + std::to_string(kMaxWindow));
    }
    if (message && (node.peer < 0 || static_cast<std::uint32_t>(node.peer) >= s.ranks_)) {
      return bad(n, "peer " + std::to_string(node.peer) + " is not a rank of a group of " + std::to_string(s.ranks_));
    }
    if (message && static_cast<std::uint32_t>(node.peer) == s.rank_) {
      return bad(n, "a message to the own rank; copy instead");
    }
    if (node.kind != Kind::recv && node.a.buffer >= buffers) {
      return bad(n,
                 "buffer " + std::to_string(node.a.buffer) + " does not exist; there are " + std::to_string(buffers));
    }
    if (node.kind != Kind::send && node.b.buffer >= buffers) {
      return bad(n,
                 "buffer " + std::to_string(node.b.buffer) + " does not exist; there are " + std::to_string(buffers));
    }
    if (node.last_bytes > node.bytes) return bad(n, "its last iteration is longer than the others");
  }
  for (const Edge& edge : s.edges_) {
    if (edge.from >= s.nodes_.size() || edge.to >= s.nodes_.size()) {
      return Error{"schedule " + s.name_ + ": edge " + std::to_string(edge.from) + " -> " + std::to_string(edge.to) +
                   " names a node that does not exist; there are " + std::to_string(s.nodes_.size())};
    }
    if (edge.kind == EdgeKind::each && edge.distance == 0 && s.nodes_[edge.from].count < s.nodes_[edge.to].count) {
      return bad(edge.to, "follows each iteration of node " + std::to_string(edge.from) + ", which has fewer");
    }
    if (edge.kind == EdgeKind::each && edge.distance != 0 &&
        s.nodes_[edge.from].count + std::uint64_t{edge.distance} < s.nodes_[edge.to].count) {
      return bad(edge.to, "follows node " + std::to_string(edge.from) + ", which has too few iterations");
    }
    if (edge.kind == EdgeKind::all && edge.distance != 0) return bad(edge.to, "an edge `all` has no distance");
  }
  if (const auto caught = caught_in_cycle(s.nodes_.size(), s.edges_); !caught.empty()) {
    return bad(caught.front(), "is in a cycle or behind one: it would wait for itself");
  }
  if (const Edge* edge = waits_for_itself(s.nodes_.size(), s.edges_)) {
    return bad(edge->to, "waits for all of node " + std::to_string(edge->from) + ", which waits for it");
  }

  std::sort(s.edges_.begin(), s.edges_.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.to, x.from, x.kind, x.distance) < std::tie(y.to, y.from, y.kind, y.distance);
  });
  s.edges_.erase(std::unique(s.edges_.begin(), s.edges_.end()), s.edges_.end());

  const std::size_t n = s.nodes_.size();
  s.in_begin_.assign(n + 1, 0);
  s.out_begin_.assign(n + 1, 0);
  s.successors_.resize(s.edges_.size());
  for (const Edge& edge : s.edges_) {
    ++s.in_begin_[edge.to + 1];
    ++s.out_begin_[edge.from + 1];
  }
  for (std::size_t i = 0; i < n; ++i) {
    s.in_begin_[i + 1] += s.in_begin_[i];
    s.out_begin_[i + 1] += s.out_begin_[i];
  }
  std::vector<std::uint32_t> fill(s.out_begin_.begin(), s.out_begin_.end());
  for (const Edge& edge : s.edges_) s.successors_[fill[edge.from]++] = edge.to;
  for (NodeId node = 0; node < n; ++node) {
    const auto in = s.into(node);
    const bool free = std::all_of(in.begin(), in.end(), [](const Edge& e) { return e.distance != 0; });
    if (free) s.sources_.push_back(node);
  }
  return std::move(schedule_);
}

}  // namespace urakata::schedule
