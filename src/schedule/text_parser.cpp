#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "schedule/builder.hpp"
#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

constexpr std::size_t kMaxSlots = std::numeric_limits<SlotId>::max();

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// What a message shows of a word of the text: cut short, and nothing that would upset a terminal.
std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 32)) text += c >= ' ' && c < 0x7f ? c : '?';
  return "'" + text + (word.size() > 32 ? "...'" : "'");
}

// The words of one line, taken one by one. After a failure every further call does nothing, so that a caller can take
// all that it needs and look at error() once.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : rest_(text), place_("line " + std::to_string(number)) {}

  bool empty() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == '#';
  }

  std::string_view peek() {
    if (empty()) return {};
    std::size_t length = 1;
    if (rest_.front() == '"') {
      while (length < rest_.size() && rest_[length] != '"') length += rest_[length] == '\\' ? 2 : 1;
      return rest_.substr(0, length + 1);
    }
    while (length < rest_.size() && !is_space(rest_[length]) && rest_[length] != '#') ++length;
    return rest_.substr(0, length);
  }

  std::string_view take() {
    const std::string_view word = peek();
    rest_.remove_prefix(word.size());
    return word;
  }

  bool accept(std::string_view word) {
    if (error_ || peek() != word) return false;
    take();
    return true;
  }

  void expect(std::string_view word) {
    if (!error_ && !accept(word)) fail("expected '" + std::string(word) + "', found " + found());
  }

  template <class T>
  T number(const char* what, T low = 0, T high = std::numeric_limits<T>::max()) {
    if (error_) return low;
    const std::string_view word = peek();
    T value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || end != word.data() + word.size() || code == std::errc::invalid_argument) {
      fail(std::string("expected a number (") + what + "), found " + found());
    } else if (code != std::errc() || value < low || value > high) {
      fail(std::string(what) + " " + shown(word) + " is not in " + std::to_string(low) + ".." + std::to_string(high));
    } else {
      take();
      return value;
    }
    return low;
  }

  void end() {
    if (!error_ && !empty()) fail("unexpected " + found() + " at the end of the line");
  }

  std::string found() { return empty() ? "the end of the line" : shown(peek()); }
  void inside(NodeId node) { place_ += ", node " + std::to_string(node); }
  void fail(const std::string& why) {
    if (!error_) error_ = Error{place_ + ": " + why};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view rest_;
  std::string place_;
  std::optional<Error> error_;
};

struct Waiting {  // an edge with the line that it stands in, for its error message
  Edge edge;
  std::size_t line;
};

// One schedule between its braces.
class Block {
 public:
  Block(std::string name, std::uint32_t ranks, std::uint32_t rank, SlotId slots, std::size_t line)
      : builder_(std::move(name), ranks, rank, slots),
        ranks_(ranks),
        rank_(rank),
        user_slots_(slots),
        slots_(slots),
        line_(line) {}

  void temp(Line& line) {
    if (!nodes_.empty()) line.fail("temp must stand before the first node");
    if (slots_ == kMaxSlots) line.fail("too many slots; there can be " + std::to_string(kMaxSlots));
    const auto bytes = line.number<std::uint64_t>("bytes");
    line.end();
    if (line.error()) return;
    builder_.temp(bytes);
    temps_.push_back(bytes);
    ++slots_;
  }

  void node(Line& line, std::size_t number) {
    const auto id = line.number<NodeId>("node");
    if (line.error()) return;
    line.inside(id);
    if (id != nodes_.size()) line.fail("nodes are numbered in order; expected " + std::to_string(nodes_.size()));
    const std::string_view kind = line.take();
    if (kind == "send") {
      send(line);
    } else if (kind == "recv") {
      recv(line);
    } else if (kind == "copy" || kind == "reduce") {
      local(line, kind == "copy");
    } else {
      line.fail("unknown kind of node " + shown(kind) + "; there are send, recv, copy, reduce");
    }
    while (!line.error() && !line.empty()) edge(line, id, number);
    nodes_.push_back(number);
  }

  Result<Schedule> finish() {
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

 private:
  static Error error(std::size_t line, NodeId node, const std::string& why) {
    return Error{"line " + std::to_string(line) + ", node " + std::to_string(node) + ": " + why};
  }

  Chunks chunks(Line& line) {
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

  Place place(Line& line, const Chunks& chunks) {
    Place place;
    line.expect("slot");
    const auto slot = line.number<std::uint32_t>("slot");
    if (!line.error() && slot >= slots_) {
      line.fail("slot " + std::to_string(slot) + " does not exist; there are " + std::to_string(slots_) +
                (slots_ == 0 ? "" : " (0.." + std::to_string(slots_ - 1) + ")"));
    }
    place.slot = static_cast<SlotId>(slot);
    constexpr auto low = std::numeric_limits<std::int64_t>::min();
    line.expect("at");
    place.offset = line.number<std::int64_t>("offset", low);
    if (line.accept("stride")) place.stride = line.number<std::int64_t>("stride", low);
    if (line.accept("wrap")) place.wrap = line.number<std::uint32_t>("wrap");
    check_range(line, place, chunks);
    return place;
  }

  // Every iteration lies inside a temporary; in the caller's slots, whose sizes are unknown here, inside 63 bits.
  void check_range(Line& line, Place place, const Chunks& chunks) {
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
    const bool user = place.slot < user_slots_;
    const Wide limit = user ? Wide{std::numeric_limits<std::int64_t>::max()} : Wide{temps_[place.slot - user_slots_]};
    if ((user ? low < std::numeric_limits<std::int64_t>::min() : low < 0) || high > limit) {
      line.fail("reaches out of slot " + std::to_string(place.slot) +
                (user ? ", further than 63 bits count"
                      : " of " + std::to_string(temps_[place.slot - user_slots_]) + " bytes"));
    }
  }

  std::uint32_t peer(Line& line) {
    line.expect("rank");
    const auto peer = line.number<std::uint32_t>("peer");
    if (line.error()) return 0;
    if (peer >= ranks_)
      line.fail("peer " + std::to_string(peer) + " is not one of " + std::to_string(ranks_) + " ranks");
    if (peer == rank_) line.fail("peer " + std::to_string(peer) + " is the own rank; use copy");
    return peer;
  }

  Flow flow(Line& line) {
    Flow flow;
    if (line.accept("window")) flow.window = line.number<std::uint32_t>("window", 1, kMaxWindow);
    if (line.accept("channel")) {
      flow.channel = static_cast<std::uint8_t>(line.number<std::uint32_t>("channel", 0, kChannels - 1));
    }
    return flow;
  }

  void send(Line& line) {
    const Chunks pieces = chunks(line);
    line.expect("to");
    const std::uint32_t to = peer(line);
    line.expect("from");
    const Place from = place(line, pieces);
    const Flow stream = flow(line);
    if (!line.error()) builder_.send(to, from, pieces, stream);
  }

  void recv(Line& line) {
    const Chunks pieces = chunks(line);
    line.expect("from");
    const std::uint32_t from = peer(line);
    line.expect("to");
    const Place to = place(line, pieces);
    const Flow stream = flow(line);
    if (!line.error()) builder_.recv(from, to, pieces, stream);
  }

  void local(Line& line, bool copy) {
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

  void edge(Line& line, NodeId to, std::size_t number) {
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

  // Nodes of a cycle of edges without distance, each waited for by the next; empty if there is none.
  std::vector<NodeId> find_cycle() const {
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

  Builder builder_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::size_t user_slots_;
  std::size_t slots_;
  std::size_t line_;
  std::vector<std::uint64_t> temps_;
  std::vector<std::size_t> nodes_;  // the line of each node
  std::vector<Waiting> edges_;
};

std::string name(Line& line) {
  const std::string_view word = line.take();
  if (word.empty() || word.front() != '"') {
    if (word.empty() || word == "{") line.fail("expected the schedule's name");
    return std::string(word);
  }
  std::string name;
  std::size_t i = 1;
  while (i < word.size() && word[i] != '"') {
    if (word[i] != '\\') {
      name += word[i++];
      continue;
    }
    const std::string_view rest = word.substr(i + 1);
    unsigned byte = 0;
    if (rest.starts_with('x') && rest.size() >= 3 &&
        std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3) {
      name += static_cast<char>(byte);
      i += 4;
    } else if (rest.starts_with('"') || rest.starts_with('\\')) {
      name += rest[0];
      i += 2;
    } else {
      line.fail("bad escape in the name; there are \\\\, \\\" and \\x with two hexadecimal digits");
      return name;
    }
  }
  if (i + 1 != word.size()) line.fail("the name's closing quote is missing");
  return name;
}

Block header(Line& line, std::size_t number) {
  line.expect("schedule");
  std::string called = name(line);
  line.expect("ranks");
  const auto ranks = line.number<std::uint32_t>("ranks", 1, std::numeric_limits<std::int32_t>::max());
  line.expect("rank");
  const auto rank = line.number<std::uint32_t>("rank", 0, ranks - 1);
  line.expect("slots");
  const auto slots = static_cast<SlotId>(line.number<std::uint32_t>("slots", 0, kMaxSlots));
  line.expect("{");
  line.end();
  return {std::move(called), ranks, rank, slots, number};
}

}  // namespace

Result<std::vector<Schedule>> from_text(std::string_view text) {
  std::vector<Schedule> schedules;
  std::optional<Block> block;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    Line line(content, ++number);
    if (line.empty()) continue;
    if (!block) {
      block.emplace(header(line, number));
    } else if (line.accept("temp")) {
      block->temp(line);
    } else if (line.accept("node")) {
      block->node(line, number);
    } else if (line.accept("}")) {
      line.end();
      if (line.error()) return *line.error();
      auto schedule = block->finish();
      if (!schedule) return schedule.error();
      schedules.push_back(std::move(*schedule));
      block.reset();
    } else {
      line.fail("unknown keyword " + line.found() + "; expected node, temp or }");
    }
    if (line.error()) return *line.error();
  }
  if (block) return Error{"line " + std::to_string(number) + ": the schedule's closing } is missing"};
  return schedules;
}

}  // namespace urakata::schedule
