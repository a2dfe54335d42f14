// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>

#include "schedule/text.hpp"

namespace urakata::schedule {
namespace {

bool plain(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._:-").find(c) != std::string_view::npos;
  });
}

std::string quoted(const std::string& name) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (plain(name)) return name;
  std::string text = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string text_of(const Place& place) {
  std::string text = "buffer " + std::to_string(place.buffer) + " at " + std::to_string(place.offset);
  if (place.stride != 0) text += " stride " + std::to_string(place.stride);
  if (place.wrap != 0) text += " wrap " + std::to_string(place.wrap);
  return text;
}

}  // namespace

const char* word(Kind kind) {
  switch (kind) {
    case Kind::send:
      return "send";
    case Kind::recv:
      return "recv";
    case Kind::copy:
      return "copy";
    case Kind::reduce:
      return "reduce";
  }
  return "";
}

std::string to_text(const Node& node) {
  std::string text = word(node.kind);
  const bool odd = node.bytes != node.last_bytes;
  text += ' ';
  if (node.count != 1 || odd) text += std::to_string(node.count) + " x ";
  text += std::to_string(node.bytes);
  if (odd) text += " last " + std::to_string(node.last_bytes);
  switch (node.kind) {
    case Kind::send:
      text += " to rank " + std::to_string(node.peer) + " from " + text_of(node.a);
      break;
    case Kind::recv:
      text += " from rank " + std::to_string(node.peer) + " to " + text_of(node.b);
      break;
    case Kind::copy:
    case Kind::reduce:
      text += " from " + text_of(node.a) + " to " + text_of(node.b);
      break;
  }
  if (node.window != 1) text += " window " + std::to_string(node.window);
  if (node.channel != 0) text += " channel " + std::to_string(node.channel);
  return text;
}

std::string to_text(const Schedule& schedule) {
  std::string text = "schedule " + quoted(schedule.name()) + " ranks " + std::to_string(schedule.ranks()) + " rank " +
                     std::to_string(schedule.rank()) + " buffers " + std::to_string(schedule.user_buffers()) + " {\n";
  for (const std::uint64_t bytes : schedule.temps()) text += "  temp " + std::to_string(bytes) + '\n';
  for (NodeId n = 0; n < schedule.nodes().size(); ++n) {
    text += "  node " + std::to_string(n) + ' ' + to_text(schedule.nodes()[n]);
    for (const Edge& edge : schedule.into(n)) {
      text += (edge.kind == EdgeKind::all ? " after " : " each ") + std::to_string(edge.from);
      if (edge.distance != 0) text += " distance " + std::to_string(edge.distance);
    }
    text += '\n';
  }
  return text + "}\n";
}

std::string to_text(std::span<const Schedule> schedules) {
  std::string text;
  for (const Schedule& schedule : schedules) {
    if (!text.empty()) text += '\n';
    text += to_text(schedule);
  }
  return text;
}

}  // namespace urakata::schedule
