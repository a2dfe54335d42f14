#include "shim/wire_messages.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/options.hpp"
#include "shim/circle.hpp"
#include "shim/process.hpp"
#include "shim/wait_until.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

namespace {

constinit std::atomic<unsigned> waiting{0};  // callers; by any thread, relaxed

void sleep_by_link(std::uint64_t ns) { link()->wait(ns); }

bool lost(const Circle::Peer& peer) { return peer.link != p2p::kNoPeer && endpoint()->lost(peer.link); }

}  // namespace

constinit transport::WireLink* own_link = nullptr;
constinit LinkHelper* link_helper = nullptr;

void open_link() {
  transport::Wire* const wire = process().wire();
  if (!options().wire_messages || wire == nullptr || !process().transports().any()) return;
  const bool in_space = options().space && space::own_membership().has_value();
  auto opened = transport::WireLink::open(*wire, {.waiting = in_space ? nullptr : &waiting});
  if (!opened.ok()) return log::warning("%s", opened.error().message.c_str());
  own_link = opened->release();
}

bool link_has_helper() { return own_link != nullptr && process().engines().named("thread") != nullptr; }

void wait_by_link(bool in_space, p2p::BackoffSettings& settings) {
  constexpr std::uint64_t kLongestNap = 100'000;  // ns; another rank's message wakes it from that, the link's does not
  settings.waiting = &waiting;
  if (in_space) {
    settings.longest_nap = kLongestNap;
  } else {
    settings.sleep = sleep_by_link;
  }
}

void start_link_helper(p2p::Endpoint& of, const CpuSet& cpus) {
  if (link_has_helper()) link_helper = new LinkHelper(of, *own_link, waiting, cpus);
}

void stop_link_helper() {
  if (link_helper != nullptr) link_helper->stop();
}

void end_lost_receives() {
  if (own_link == nullptr || own_link->lost() == 0) return;
  for_each_circle([](const Circle& circle) {
    bool any = false;
    for (std::size_t rank = 0; rank < circle.peers.size(); ++rank) {
      if (!lost(circle.peers[rank])) continue;
      endpoint()->fail_receives(circle.context, static_cast<std::int32_t>(rank));
      any = true;
    }
    if (any) endpoint()->fail_receives(circle.context, p2p::kAnySource);
  });
}

bool lost(const messages::MessageDescriptor& pattern) {
  if (own_link == nullptr || own_link->lost() == 0) return false;
  const Circle& circle = *pattern.circle;
  if (pattern.envelope.source == p2p::kAnySource)
    return std::ranges::any_of(circle.peers, [](const Circle::Peer& peer) { return lost(peer); });
  return lost(circle.peers[static_cast<std::size_t>(pattern.envelope.source)]);
}

void flush_link() {
  if (own_link == nullptr || endpoint() == nullptr) return;
  wait_until([] { return own_link->flushed(); });
}

}  // namespace urakata::shim
