// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/draw.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

constexpr int kBoxWidth = 132;
constexpr int kBoxHeight = 34;
constexpr int kGap = 14;      // between boxes side by side
constexpr int kLaneGap = 46;  // between lanes, where edges and messages pass
constexpr int kRowHeight = 96;
constexpr int kTop = 86;
constexpr int kLeft = 24;

struct Box {
  int x = 0;
  int y = 0;
  int middle() const { return x + kBoxWidth / 2; }
};

const char* colour(Kind kind) {
  switch (kind) {
    case Kind::send:
      return "#cfe3f7";
    case Kind::recv:
      return "#d5efd3";
    case Kind::copy:
      return "#ececec";
    case Kind::reduce:
      return "#fbe3bf";
  }
  return "#ffffff";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

std::string size_of(const Node& node) {
  const auto bytes = [](std::uint64_t n) {
    if (n >= 1 << 20 && n % (1 << 20) == 0) return std::to_string(n >> 20) + " MiB";
    if (n >= 1 << 10 && n % (1 << 10) == 0) return std::to_string(n >> 10) + " KiB";
    return std::to_string(n) + " B";
  };
  return (node.count > 1 ? std::to_string(node.count) + " x " : "") + bytes(node.bytes);
}

class Drawing {
 public:
  Drawing(std::span<const Schedule> schedules, const Proof& proof) : schedules_(schedules), proof_(proof) { place(); }

  std::string text() {
    frame();
    for (const Schedule& schedule : schedules_) edges(schedule);
    messages();
    for (const Schedule& schedule : schedules_) boxes(schedule);
    return svg_ + "</svg>\n";
  }

 private:
  // Nodes of a rank that can start at the same time stand side by side. A receive stands where its first message can
  // arrive, half a step below the send, so that all arrows point downwards. Rows nobody uses are left out.
  void place() {
    std::vector<std::vector<std::uint32_t>> levels = proof_.started;
    for (auto& rank : levels) {
      for (std::uint32_t& level : rank) level *= 2;
    }
    for (const Matched& m : proof_.messages) {
      if (m.recv_iteration != 0) continue;
      levels[m.to][m.recv] = 2 * std::max(proof_.started[m.from][m.send], proof_.started[m.to][m.recv]) + 1;
    }
    std::map<std::uint32_t, int> row;
    for (const auto& rank : levels) {
      for (const std::uint32_t level : rank) row.emplace(level, 0);
    }
    int number = 0;
    for (auto& [level, at] : row) at = number++;
    int x = kLeft;
    for (const Schedule& schedule : schedules_) {
      std::vector<int> used(row.size() + 1, 0);
      auto& boxes = boxes_.emplace_back();
      int widest = 1;
      for (NodeId n = 0; n < schedule.nodes().size(); ++n) {
        const int at = row[levels[schedule.rank()][n]];
        int& column = used[static_cast<std::size_t>(at)];
        boxes.push_back({x + column * (kBoxWidth + kGap), kTop + at * kRowHeight});
        widest = std::max(widest, ++column);
      }
      const int width = widest * (kBoxWidth + kGap) - kGap;
      lanes_.push_back({x, width});
      x += width + kLaneGap;
    }
    width_ = x - kLaneGap + kLeft;
    height_ = kTop + static_cast<int>(std::max<std::size_t>(row.size(), 1)) * kRowHeight;
  }

  void frame() {
    const auto size = [](int w, int h) {
      return "width=\"" + std::to_string(w) + "\" height=\"" + std::to_string(h) + "\"";
    };
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size(width_, height_) + " viewBox=\"0 0 " +
           std::to_string(width_) + " " + std::to_string(height_) +
           "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect " + size(width_, height_) + " fill=\"#ffffff\"/>\n" +
           "<defs><marker id=\"m\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
           "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#c0392b\"/></marker><marker id=\"e\" viewBox=\"0 0 8 8\" "
           "refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
           "fill=\"#777777\"/></marker></defs>\n";
    const std::string title = schedules_.empty() ? "no schedules" : schedules_.front().name();
    label(kLeft, 24,
          title + ", " + std::to_string(schedules_.size()) + " ranks, " + std::to_string(proof_.messages.size()) +
              " messages, " + std::to_string(proof_.depth) + " steps deep",
          "start", "font-size=\"15\" font-weight=\"bold\"");
    label(kLeft, 42, "grey: waits for (dashed: iteration by iteration); red: messages", "start", "fill=\"#555555\"");
    for (std::size_t r = 0; r < lanes_.size(); ++r) {
      const auto [x, width] = lanes_[r];
      svg_ += "<rect x=\"" + std::to_string(x - 10) + "\" y=\"52\" " + size(width + 20, height_ - 60) +
              " rx=\"6\" fill=\"#f7f8fa\" stroke=\"#d8dce2\"/>\n";
      label(x + width / 2, 70, "rank " + std::to_string(r), "middle", "font-weight=\"bold\"");
    }
  }

  void label(int x, int y, const std::string& text, const char* anchor, const char* more = "") {
    svg_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" text-anchor=\"" + anchor + "\" " +
            more + ">" + escaped(text) + "</text>\n";
  }

  // `aside` bends it to the right, past what stands between its ends.
  void curve(int x0, int y0, int x1, int y1, const char* style, int aside = 0) {
    const int bend = y1 > y0 ? std::max(20, (y1 - y0) / 2) : 40;
    const auto point = [](int x, int y) { return std::to_string(x) + " " + std::to_string(y); };
    svg_ += "<path d=\"M" + point(x0, y0) + "C" + point(x0 + aside, y0 + bend) + " " + point(x1 + aside, y1 - bend) +
            " " + point(x1, y1) + "\" fill=\"none\" " + style + "/>\n";
  }

  void edges(const Schedule& schedule) {
    const auto& boxes = boxes_[schedule.rank()];
    for (const Edge& edge : schedule.edges()) {
      const Box& from = boxes[edge.from];
      const Box& to = boxes[edge.to];
      curve(from.middle(), from.y + kBoxHeight, to.middle(), to.y,
            edge.kind == EdgeKind::all ? "stroke=\"#999999\" marker-end=\"url(#e)\""
                                       : "stroke=\"#999999\" stroke-dasharray=\"4 3\" marker-end=\"url(#e)\"",
            from.x == to.x && to.y - from.y > kRowHeight ? kBoxWidth * 3 / 4 : 0);
    }
  }

  // One arrow for all messages between the same two nodes.
  void messages() {
    std::set<std::tuple<std::uint32_t, NodeId, std::uint32_t, NodeId>> drawn;
    for (const Matched& m : proof_.messages) {
      if (!drawn.insert({m.from, m.send, m.to, m.recv}).second) continue;
      const Box& from = boxes_[m.from][m.send];
      const Box& to = boxes_[m.to][m.recv];
      curve(from.middle(), from.y + kBoxHeight, to.middle(), to.y,
            "stroke=\"#c0392b\" stroke-opacity=\"0.75\" marker-end=\"url(#m)\"");
    }
  }

  void boxes(const Schedule& schedule) {
    for (NodeId n = 0; n < schedule.nodes().size(); ++n) {
      const Node& node = schedule.nodes()[n];
      const Box& box = boxes_[schedule.rank()][n];
      svg_ += "<g><title>" + escaped("node " + std::to_string(n) + " " + to_text(node)) + "</title><rect x=\"" +
              std::to_string(box.x) + "\" y=\"" + std::to_string(box.y) + "\" width=\"" + std::to_string(kBoxWidth) +
              "\" height=\"" + std::to_string(kBoxHeight) + "\" rx=\"4\" fill=\"" + colour(node.kind) +
              "\" stroke=\"#555555\"/>\n";
      std::string what = std::to_string(n) + ": " + word(node.kind);
      if (node.kind == Kind::send) what += " to " + std::to_string(node.peer);
      if (node.kind == Kind::recv) what += " from " + std::to_string(node.peer);
      label(box.middle(), box.y + 14, what, "middle", "font-weight=\"bold\"");
      label(box.middle(), box.y + 28, size_of(node), "middle");
      svg_ += "</g>\n";
    }
  }

  std::span<const Schedule> schedules_;
  const Proof& proof_;
  std::vector<std::vector<Box>> boxes_;     // [rank][node]
  std::vector<std::pair<int, int>> lanes_;  // left edge and width of each rank's lane
  int width_ = 0;
  int height_ = 0;
  std::string svg_;
};

}  // namespace

std::string draw(std::span<const Schedule> schedules, const Proof& proof) { return Drawing(schedules, proof).text(); }

}  // namespace urakata::schedule
