// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_stripes.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace urakata::transport {

namespace {

constexpr std::int32_t kTag = -3;  // and below: no group's, and none of job/link_rates.cpp

}  // namespace

void LinkStripes::send(LinkPeer to, std::uint32_t order, const Elements& source, std::uint64_t bytes, LinkTicket ticket,
                       bool copied) {
  Payload payload;
  payload.ticket = ticket;
  payload.elements = source;
  payload.bytes = payload.wanted = bytes;
  if (copied) {
    payload.all.resize(bytes);
    p2p::pack(source, 0, payload.all);
  }
  add(to, true, order, std::move(payload));
}

void LinkStripes::receive(LinkPeer from, std::uint32_t order, const Elements& target, std::uint64_t wanted,
                          std::uint64_t bytes, LinkTicket ticket) {
  Payload payload;
  payload.ticket = ticket;
  payload.elements = target;
  payload.bytes = bytes;
  payload.wanted = wanted;
  if (wanted < bytes) payload.all.resize(bytes);
  add(from, false, order, std::move(payload));
}

void LinkStripes::add(LinkPeer peer, bool sends, std::uint32_t order, Payload&& payload) {
  Line& line = lines_[{peer, sends, order}];
  line.peer = peer;
  line.sends = sends;
  line.order = order;
  if (line.payloads.empty() && !carries(peer)) stripes_.note_near(static_cast<std::int32_t>(peer));
  line.payloads.push_back(std::move(payload));
  post(line);
}

// Gives the stripes what may be under way, in order.
void LinkStripes::post(Line& line) {
  bool room = true;
  for (std::size_t at = 0; room && at < line.payloads.size(); ++at) {
    while (room && line.payloads[at].posted < line.payloads[at].bytes) room = post_slice(line, at);
  }
  while (!line.payloads.empty() && line.payloads.front().over == line.payloads.front().bytes) {
    line.payloads.pop_front();
    ++line.first;
  }
}

// False: as many are under way as may be.
bool LinkStripes::post_slice(Line& line, std::size_t at) {
  Payload& payload = line.payloads[at];
  const bool straight = payload.elements.shape == nullptr || !payload.all.empty();
  if ((line.sends || !straight) && payload.slices.size() == kSlices) return false;
  Slice& slice = payload.slices.emplace_back();
  slice.at = payload.posted;
  slice.bytes = std::min(kSlice, payload.bytes - slice.at);
  payload.posted += slice.bytes;
  std::byte* address = (payload.all.empty() ? payload.elements.address : payload.all.data()) + slice.at;
  if (!straight) {
    slice.packed.resize(slice.bytes);
    if (line.sends) p2p::pack(payload.elements, slice.at, slice.packed);
    address = slice.packed.data();
  }
  const Message message{.address = address,
                        .bytes = slice.bytes,
                        .layout = nullptr,
                        .peer = static_cast<std::int32_t>(line.peer),
                        .tag = kTag - static_cast<std::int32_t>(line.order)};
  const Ticket ticket{.instance = &line,
                      .node = line.first + static_cast<std::uint32_t>(at),
                      .iteration = payload.first + static_cast<std::uint32_t>(payload.slices.size() - 1)};
  bool finished = false;
  const int error = line.sends ? port_.send(message, ticket, &finished) : port_.recv(message, ticket, &finished);
  if (finished || error != 0) ended(ticket, error);
  return true;
}

void LinkStripes::ended(const Ticket& ticket, int error) {
  Line& line = *static_cast<Line*>(ticket.instance);
  const std::uint32_t number = ticket.node - line.first;
  if (number >= line.payloads.size()) return;  // it was given up
  Payload& payload = line.payloads[number];
  Slice& slice = payload.slices[ticket.iteration - payload.first];
  if (!slice.packed.empty() && !line.sends && error == 0) p2p::unpack(slice.packed, payload.elements, slice.at);
  slice.over = true;
  payload.over += slice.bytes;
  if (!payload.told && (error != 0 || payload.over == payload.bytes)) {
    if (error == 0 && !line.sends && payload.wanted != 0 && !payload.all.empty()) {
      p2p::unpack(std::span(payload.all).first(payload.wanted), payload.elements, 0);
    }
    payload.told = true;
    finished_.push_back({line.peer, line.order, payload.ticket, line.sends, error != 0});
  }
  while (!payload.slices.empty() && payload.slices.front().over) {
    payload.slices.pop_front();
    ++payload.first;
  }
}

void LinkStripes::poll() {
  std::set<Line*> touched;
  for (const Completion& each : port_.poll()) {
    ended(each.ticket, each.error);
    touched.insert(static_cast<Line*>(each.ticket.instance));
  }
  for (Line* line : touched) post(*line);
}

void LinkStripes::forget(LinkPeer peer) {
  for (auto& [key, line] : lines_) {
    if (line.peer != peer) continue;
    port_.cancel(&line);
    line.first += static_cast<std::uint32_t>(line.payloads.size());
    line.payloads.clear();
  }
}

bool LinkStripes::open_with(LinkPeer peer) const {
  return std::ranges::any_of(
      lines_, [peer](const auto& entry) { return entry.second.peer == peer && !entry.second.payloads.empty(); });
}

bool LinkStripes::sending() {
  const auto sends = [](const auto& entry) { return entry.second.sends && !entry.second.payloads.empty(); };
  return stripes_.sending() || std::ranges::any_of(lines_, sends);
}

std::uint64_t LinkStripes::moved(LinkPeer peer, LinkTicket ticket, bool send) {
  for (auto& [key, line] : lines_) {
    if (line.peer != peer || line.sends != send) continue;
    for (std::size_t at = 0; at < line.payloads.size(); ++at) {
      const Payload& payload = line.payloads[at];
      if (payload.ticket != ticket || payload.told) continue;
      std::uint64_t bytes = payload.over;
      for (std::size_t slice = 0; slice < payload.slices.size(); ++slice) {
        if (payload.slices[slice].over) continue;
        bytes += port_.moved({.instance = &line,
                              .node = line.first + static_cast<std::uint32_t>(at),
                              .iteration = payload.first + static_cast<std::uint32_t>(slice)},
                             static_cast<std::int32_t>(peer), send);
      }
      return std::min(bytes, payload.wanted);
    }
  }
  return 0;
}

}  // namespace urakata::transport
