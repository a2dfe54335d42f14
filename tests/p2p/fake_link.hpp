// SPDX-License-Identifier: BSD-3-Clause
// A network in the memory of the test: each pair of endpoints has a queue of frames, and beside it one of pieces of
// payload, which overtake frames and each other. Everything takes a while, as a random number says.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "p2p/link.hpp"

namespace urakata::p2p::test {

struct Frame {
  enum class Kind { eager, rts, cts, piece, credit } kind = Kind::eager;
  Envelope envelope;
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
  LinkTicket send{};
  LinkTicket receive{};
  std::vector<std::byte> payload;
};

class FakeNetwork {
 public:
  void put(int from, int to, Frame frame, bool ordered) {
    const std::lock_guard guard(lock_);
    if (broken_.contains(std::minmax(from, to))) return;
    (ordered ? frames_ : pieces_)[{from, to}].push_back(std::move(frame));
  }
  bool take(int from, int to, bool ordered, std::uint64_t random, Frame* frame) {
    const std::lock_guard guard(lock_);
    auto& queue = (ordered ? frames_ : pieces_)[{from, to}];
    if (queue.empty()) return false;
    const auto it = queue.begin() + static_cast<std::ptrdiff_t>(ordered ? 0 : random % queue.size());
    *frame = std::move(*it);
    queue.erase(it);
    return true;
  }
  void cut(int a, int b) {
    const std::lock_guard guard(lock_);
    broken_.insert(std::minmax(a, b));
    for (auto* queues : {&frames_, &pieces_}) {
      queues->erase({a, b});
      queues->erase({b, a});
    }
  }
  bool is_cut(int a, int b) {
    const std::lock_guard guard(lock_);
    return broken_.contains(std::minmax(a, b));
  }

 private:
  std::mutex lock_;
  std::map<std::pair<int, int>, std::deque<Frame>> frames_;
  std::map<std::pair<int, int>, std::deque<Frame>> pieces_;
  std::set<std::pair<int, int>> broken_;
};

class FakeLink final : public Link {
 public:
  static constexpr std::uint64_t kEagerBytes = 1000;
  static constexpr std::uint64_t kFrame = 50;  // credit that a frame takes besides its payload
  static constexpr std::uint64_t kPiece = 700;

  FakeLink(FakeNetwork& network, int own, int peers, std::uint64_t credit, std::uint64_t seed)
      : network_(network), own_(own), peers_(peers), random_(seed) {
    for (int peer = 0; peer < peers; ++peer) credit_[LinkPeer{peer}] = credit;
  }

  std::uint64_t eager_bytes() const override { return kEagerBytes; }
  bool is_lost(LinkPeer peer) const override { return failed_.contains(peer); }
  void watch(LinkPeer) override {}  // cut() tells everybody

  bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                  LinkTicket send) override {
    if (credit_[to] < bytes + kFrame) return false;
    credit_[to] -= bytes + kFrame;
    put(to, {Frame::Kind::eager, envelope, bytes, 0, send, {}, {payload, payload + bytes}});
    return true;
  }
  void send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send,
                const Elements* /*source*/) override {
    put(to, {Frame::Kind::rts, envelope, bytes, 0, send, {}, {}});
  }
  void send_cts(LinkPeer to, LinkTicket send, LinkTicket receive, const Elements& target,
                std::uint64_t bytes) override {
    if (bytes != 0) landings_[receive] = {to, target, bytes, bytes};
    put(to, {Frame::Kind::cts, {}, bytes, 0, send, receive, {}});
  }
  void send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                    LinkTicket send) override {
    leaving_[send] = {to, receive, source, bytes, 0};
  }
  std::uint64_t moved(LinkPeer, LinkTicket ticket, bool send) const override {
    if (send) {
      const auto leaving = leaving_.find(ticket);
      return leaving != leaving_.end() ? leaving->second.at : 0;
    }
    const auto landing = landings_.find(ticket);
    return landing != landings_.end() ? landing->second.bytes - landing->second.missing : 0;
  }
  void consumed(LinkPeer from, std::uint64_t bytes) override {
    put(from, {Frame::Kind::credit, {}, bytes + kFrame, 0, {}, {}, {}});
  }

  bool poll(Events& events) override {
    bool moved = false;
    for (int i = 0; i < peers_; ++i) {
      const LinkPeer peer{i};
      if (i == own_ || is_lost(peer)) continue;
      if (network_.is_cut(own_, i)) {
        forget(peer);
        events.failed(peer);
        moved = true;
        continue;
      }
      Frame frame;
      for (std::uint64_t n = random_() % 6; n > 0 && network_.take(i, own_, true, 0, &frame); --n) {
        take(peer, frame, events);
        moved = true;
      }
      for (std::uint64_t n = random_() % 6; n > 0 && network_.take(i, own_, false, random_(), &frame); --n) {
        take(peer, frame, events);
        moved = true;
      }
    }
    return send_pieces(events) || moved;
  }
  bool can_progress() const override { return true; }

  int wrong = 0;  // CTS that the endpoint did not know

 private:
  struct Landing {
    LinkPeer from;
    Elements target;
    std::uint64_t bytes = 0;
    std::uint64_t missing = 0;
  };
  struct Leaving {
    LinkPeer to;
    LinkTicket receive{};
    Elements source;
    std::uint64_t bytes = 0;
    std::uint64_t at = 0;
  };

  void put(LinkPeer to, Frame frame) { network_.put(own_, static_cast<int>(to), std::move(frame), true); }

  void take(LinkPeer from, Frame& frame, Events& events) {
    switch (frame.kind) {
      case Frame::Kind::eager:
        events.eager(from, frame.envelope, frame.payload.data(), frame.bytes, frame.send);
        frame.payload.assign(frame.payload.size(), std::byte{0xdd});
        break;
      case Frame::Kind::rts:
        events.rts(from, frame.envelope, frame.bytes, frame.send);
        break;
      case Frame::Kind::cts:
        if (!events.cts(from, frame.send, frame.receive, frame.bytes)) ++wrong;
        break;
      case Frame::Kind::credit:
        credit_[from] += frame.bytes;
        break;
      case Frame::Kind::piece: {
        Landing& landing = landings_.at(frame.receive);
        unpack(frame.payload, landing.target, frame.at);
        landing.missing -= frame.payload.size();
        if (landing.missing != 0) break;
        landings_.erase(frame.receive);
        events.received(frame.receive);
      }
    }
  }

  bool send_pieces(Events& events) {
    std::vector<LinkTicket> gone;
    for (auto& [send, leaving] : leaving_) {
      for (std::uint64_t n = random_() % 20; n > 0 && leaving.at < leaving.bytes; --n) {
        const std::uint64_t bytes = std::min(kPiece, leaving.bytes - leaving.at);
        Frame frame{Frame::Kind::piece, {}, bytes, leaving.at, send, leaving.receive, std::vector<std::byte>(bytes)};
        pack(leaving.source, leaving.at, frame.payload);
        leaving.at += bytes;
        network_.put(own_, static_cast<int>(leaving.to), std::move(frame), false);
      }
      if (leaving.at == leaving.bytes) gone.push_back(send);
    }
    for (const LinkTicket send : gone) {
      leaving_.erase(send);
      events.sent(send);
    }
    return !gone.empty();
  }

  void forget(LinkPeer peer) {
    failed_.insert(peer);
    std::erase_if(landings_, [&](const auto& entry) { return entry.second.from == peer; });
    std::erase_if(leaving_, [&](const auto& entry) { return entry.second.to == peer; });
  }

  FakeNetwork& network_;
  const int own_;
  const int peers_;
  std::mt19937_64 random_;
  std::map<LinkPeer, std::uint64_t> credit_;
  std::map<LinkTicket, Landing> landings_;
  std::map<LinkTicket, Leaving> leaving_;
  std::set<LinkPeer> failed_;
};

}  // namespace urakata::p2p::test
