// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/text_block.hpp"

#include <algorithm>
#include <limits>

namespace urakata::schedule {
namespace {

Error error(std::size_t line, NodeId node, const std::string& why) {
  return Error{"line " + std::to_string(line) + ", node " + std::to_string(node) + ": " + why};
}

}  // namespace

void TextBlock::temp(TextLine& line) {
  if (!nodes_.empty()) line.fail("temp must stand before the first node");
  if (buffers_ == kMaxBuffers) line.fail("too many buffers; there can be " + std::to_string(kMaxBuffers));
  const auto bytes = line.number<std::uint64_t>("bytes");
  line.end();
  if (line.error()) return;
  builder_.temp(bytes);
  temps_.push_back(bytes);
  ++buffers_;
}

void TextBlock::node(TextLine& line, std::size_t number) {
  const auto id = line.number<NodeId>("node");
  if (line.error()) return;
  line.inside(id);
  if (id != nodes_.size()) line.fail("nodes are numbered in order; expected " + std::to_string(nodes_.size()));
  const std::string_view kind = line.take();
  if (kind == "send") {
    message(line, true);
  } else if (kind == "recv") {
    message(line, false);
  } else if (kind == "copy" || kind == "reduce") {
    local(line, kind == "copy");
  } else {
    line.fail("unknown kind of node " + shown(kind) + "; there are send, recv, copy, reduce");
  }
  while (!line.error() && !line.empty()) edge(line, id, number);
  nodes_.push_back(number);
}

Result<Schedule> TextBlock::finish() {
  for (const auto& [edge, line] : edges_) {
    if (edge.from >= nodes_.size()) {
      return error(line, edge.to, "waits for node " + std::to_string(edge.from) + ", which does not exist");
    }
    const auto& draft = builder_.draft().nodes();
    if (edge.kind == EdgeKind::each && draft[edge.from].count + std::uint64_t{edge.distance} < draft[edge.to].count) {
      return error(line, edge.to,
                   "waits for each iteration of node " + std::to_string(edge.from) + ", which has too few");
    }
    if (edge.kind == EdgeKind::all) {
      builder_.after(edge.from, edge.to);
    } else {
      builder_.each(edge.from, edge.to, edge.distance);
    }
  }
  if (const auto cycle = find_cycle(); !cycle.empty()) {
    std::string path;
    for (const NodeId n : cycle) path += std::to_string(n) + " -> ";
    return error(nodes_[cycle.front()], cycle.front(), "waits for itself: " + path + std::to_string(cycle.front()));
  }
  auto schedule = builder_.commit();
  if (!schedule) return Error{"line " + std::to_string(line_) + ": " + schedule.error().message};
  return schedule;
}

// Nodes of a cycle of edges without distance, each waited for by the next; empty if there is none.
std::vector<NodeId> TextBlock::find_cycle() const {
  std::vector<std::vector<NodeId>> out(nodes_.size());
  for (const auto& [edge, line] : edges_) {
    if (edge.distance == 0) out[edge.from].push_back(edge.to);
  }
  enum class Mark : std::uint8_t { fresh, open, closed };
  std::vector<Mark> marks(nodes_.size(), Mark::fresh);
  std::vector<std::pair<NodeId, std::size_t>> path;  // node, and how many of its successors were followed
  for (NodeId root = 0; root < nodes_.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    path.push_back({root, 0});
    marks[root] = Mark::open;
    while (!path.empty()) {
      auto& [n, followed] = path.back();
      if (followed == out[n].size()) {
        marks[n] = Mark::closed;
        path.pop_back();
        continue;
      }
      const NodeId next = out[n][followed++];
      if (marks[next] == Mark::open) {
        std::vector<NodeId> cycle;
        auto at = std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == next; });
        for (; at != path.end(); ++at) cycle.push_back(at->first);
        return cycle;
      }
      if (marks[next] == Mark::fresh) {
        marks[next] = Mark::open;
        path.push_back({next, 0});
      }
    }
  }
  return {};
}

Chunks TextBlock::chunks(TextLine& line) {
  Chunks chunks;
  const auto first = line.number<std::uint64_t>("bytes");
  if (line.accept("x")) {
    if (first == 0 || first > std::numeric_limits<std::uint32_t>::max()) line.fail("iterations out of range");
    chunks.count = static_cast<std::uint32_t>(first);
    chunks.bytes = line.number<std::uint64_t>("bytes");
  } else {
    chunks.bytes = first;
  }
  chunks.last_bytes = line.accept("last") ? line.number<std::uint64_t>("last", 0, chunks.bytes) : chunks.bytes;
  return chunks;
}

Place TextBlock::place(TextLine& line, const Chunks& chunks) {
  Place place;
  line.expect("buffer");
  const auto buffer = line.number<std::uint32_t>("buffer");
  if (!line.error() && buffer >= buffers_) {
    line.fail("buffer " + std::to_string(buffer) + " does not exist; there are " + std::to_string(buffers_) +
              (buffers_ == 0 ? "" : " (0.." + std::to_string(buffers_ - 1) + ")"));
  }
  place.buffer = buffer;
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  line.expect("at");
  place.offset = line.number<std::int64_t>("offset", low);
  if (line.accept("stride")) place.stride = line.number<std::int64_t>("stride", low);
  if (line.accept("wrap")) place.wrap = line.number<std::uint32_t>("wrap");
  check_range(line, place, chunks);
  return place;
}

// Every iteration lies inside a temporary; in the caller's buffers, whose sizes are unknown here, inside 63 bits.
void TextBlock::check_range(TextLine& line, Place place, const Chunks& chunks) {
  __extension__ using Wide = __int128;
  if (line.error() || chunks.bytes == 0) return;
  if (place.stride == 0 && chunks.count > 1) place.stride = static_cast<std::int64_t>(chunks.bytes);
  const bool wraps = place.wrap != 0 && place.wrap < chunks.count;
  const std::uint32_t places = wraps ? place.wrap : chunks.count;
  const Wide first = place.offset;
  const Wide last = first + Wide{place.stride} * (places - 1);
  const Wide low = std::min(first, last);
  Wide high = last + (wraps ? chunks.bytes : chunks.last_bytes);
  if (places > 1) high = std::max({high, last - place.stride + chunks.bytes, first + chunks.bytes});
  const bool user = place.buffer < user_buffers_;
  const Wide limit = user ? Wide{std::numeric_limits<std::int64_t>::max()} : Wide{temps_[place.buffer - user_buffers_]};
  if ((user ? low < std::numeric_limits<std::int64_t>::min() : low < 0) || high > limit) {
    line.fail("reaches out of buffer " + std::to_string(place.buffer) +
              (user ? ", further than 63 bits count"
                    : " of " + std::to_string(temps_[place.buffer - user_buffers_]) + " bytes"));
  }
}

std::uint32_t TextBlock::peer(TextLine& line) {
  line.expect("rank");
  const auto peer = line.number<std::uint32_t>("peer");
  if (line.error()) return 0;
  if (peer >= ranks_) line.fail("peer " + std::to_string(peer) + " is not one of " + std::to_string(ranks_) + " ranks");
  if (peer == rank_) line.fail("peer " + std::to_string(peer) + " is the own rank; use copy");
  return peer;
}

Flow TextBlock::flow(TextLine& line) {
  Flow flow;
  if (line.accept("window")) flow.window = line.number<std::uint32_t>("window", 1, kMaxWindow);
  if (line.accept("channel")) {
    flow.channel = static_cast<std::uint8_t>(line.number<std::uint32_t>("channel", 0, kChannels - 1));
  }
  return flow;
}

void TextBlock::message(TextLine& line, bool is_send) {
  const Chunks pieces = chunks(line);
  line.expect(is_send ? "to" : "from");
  const std::uint32_t with = peer(line);
  line.expect(is_send ? "from" : "to");
  const Place payload = place(line, pieces);
  const Flow stream = flow(line);
  if (line.error()) return;
  if (is_send) {
    builder_.send(with, payload, pieces, stream);
  } else {
    builder_.recv(with, payload, pieces, stream);
  }
}

void TextBlock::local(TextLine& line, bool copy) {
  const Chunks pieces = chunks(line);
  line.expect("from");
  const Place from = place(line, pieces);
  line.expect("to");
  const Place to = place(line, pieces);
  if (line.error()) return;
  if (copy) {
    builder_.copy(from, to, pieces);
  } else {
    builder_.reduce(from, to, pieces);
  }
}

void TextBlock::edge(TextLine& line, NodeId to, std::size_t number) {
  Edge edge;
  edge.to = to;
  if (line.accept("after")) {
    edge.from = line.number<NodeId>("node");
  } else if (line.accept("each")) {
    edge.kind = EdgeKind::each;
    edge.from = line.number<NodeId>("node");
    if (line.accept("distance")) edge.distance = line.number<std::uint32_t>("distance", 1);
  } else {
    line.fail("unknown keyword " + line.found());
  }
  if (!line.error()) edges_.push_back({edge, number});
}

}  // namespace urakata::schedule
