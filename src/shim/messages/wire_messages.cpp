// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/wire_messages.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/progress/wait_until.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

namespace {

constinit std::atomic<unsigned> waiting{0};           // threads that wait at the endpoint; relaxed
constinit bool with_progress_thread = false;          // constant after open_link()
constinit transport::Stripes* own_stripes = nullptr;  // constant after open_link(); only if the job has one site

void note_wait() {
  if (link_progress != nullptr) link_progress->note_wait();
}

void sleep_by_link(std::uint64_t ns) { link()->wait(ns); }

// Whether a receive may wait for a message of the MPI library, too, of which no descriptor tells.
bool asks_native() { return mixed_queue != nullptr && mixed_queue->open(); }

bool link_covers_all() { return !asks_native(); }
unsigned turns_of_link() { return asks_native() ? mixed_queue->turns_of_endpoint() : 1; }

bool lost(const EndpointComm::Peer& peer) { return peer.link != p2p::kNoPeer && endpoint()->lost(peer.link); }

}  // namespace

bool native_gives_way() {
  if (native.set_yield_when_idle == nullptr) return false;
  const bool gives_way = native.set_yield_when_idle(false);
  native.set_yield_when_idle(gives_way);
  return gives_way;
}

constinit transport::LinkProgress* link_progress = nullptr;
constinit std::atomic<unsigned> checks_seen{0};

bool open_link_stripes(transport::Failures& failures) {
  if (job_setup().wire() == nullptr) return false;
  auto opened = transport::Stripes::open(*job_setup().wire(), failures, {});
  if (!opened.ok()) {
    log::warning("%s", opened.error().message.c_str());
    return false;
  }
  own_stripes = opened->release();
  return true;
}

void close_link_stripes() { delete std::exchange(own_stripes, nullptr); }

namespace {

// The stripes that carry the link's long messages; nullptr: there are none.
transport::Stripes* stripes_of_link() { return own_stripes != nullptr ? own_stripes : job_setup().stripes(); }

std::unique_ptr<transport::WireLink> opened_link(std::uint32_t connections) {
  const bool in_space = options().space && space::own_membership().has_value();
  auto opened = transport::WireLink::open(
      *job_setup().wire(),
      {.waiting = in_space ? nullptr : &waiting, .turns = turns_of_link, .connections = connections});
  if (!opened.ok()) {
    log::warning("%s", opened.error().message.c_str());
    return nullptr;
  }
  if (transport::Stripes* const stripes = stripes_of_link(); stripes != nullptr) {
    // Peers whose links have stripes cannot use a link without them.
    const Status carried =
        (*opened)->carry_by(std::make_unique<transport::LinkStripes>(*stripes, ranks_at_other_sites()));
    if (!carried) {
      log::warning("%s", carried.error().message.c_str());
      return nullptr;
    }
  }
  return std::move(*opened);
}

}  // namespace

void open_link(const LinkWish& wish) {
  if (!wish.stripes) close_link_stripes();
  own_link = opened_link(wish.connections).release();
  if (own_link == nullptr) close_link_stripes();
  with_progress_thread = own_link != nullptr && wish.progress_thread;
}

bool link_has_progress_thread() { return with_progress_thread; }

void wait_by_link(bool in_space, p2p::BackoffSettings& settings) {
  constexpr std::uint64_t kLongestNap = 100'000;  // ns; messages of the space end a nap, those of the link do not
  settings.waiting = &waiting;
  settings.entered = note_wait;
  if (in_space) {
    settings.longest_nap = kLongestNap;
  } else {
    settings.sleep = sleep_by_link;
    settings.descriptor_covers_all = link_covers_all;
    settings.poll_gives_way = native_gives_way();
    // If the MPI library yields, other processes want the core, even if each rank of this node seems to have one of its
    // own (containers). Spinning before each yield would then delay all of them.
    settings.oversubscribed = settings.oversubscribed || settings.poll_gives_way;
  }
}

void start_link_progress(p2p::Endpoint& of, const transport::LinkProgress::Settings& settings) {
  if (link_has_progress_thread()) link_progress = new transport::LinkProgress(of, *own_link, waiting, settings);
}

void stop_link_progress() {
  if (link_progress != nullptr) link_progress->stop();
}

// From now on the link watches the connections to ranks that receives wait for.
void watch_awaited() {
  constexpr std::ptrdiff_t kFew = 64;  // connections for one receive from any source
  for_each_endpoint_comm([](const EndpointComm& endpoint_comm) {
    const auto linked = [](const EndpointComm::Peer& peer) { return peer.link != p2p::kNoPeer; };
    const bool few = std::ranges::count_if(endpoint_comm.peers, linked) <= kFew;
    for (std::size_t rank = 0; rank < endpoint_comm.peers.size(); ++rank) {
      const EndpointComm::Peer& peer = endpoint_comm.peers[rank];
      if (linked(peer)) endpoint()->watch(endpoint_comm.context, static_cast<std::int32_t>(rank), few, peer.link);
    }
  });
}

void end_receives_of_lost() {
  if (endpoint() == nullptr) return;  // in MPI_Finalize
  const unsigned checks = own_link->checks();
  if (checks_seen.exchange(checks, std::memory_order_relaxed) != checks) watch_awaited();
  if (own_link->lost() == 0) return;
  for_each_endpoint_comm([](const EndpointComm& endpoint_comm) {
    bool any = false;
    for (std::size_t rank = 0; rank < endpoint_comm.peers.size(); ++rank) {
      if (!lost(endpoint_comm.peers[rank])) continue;
      endpoint()->fail_receives(endpoint_comm.context, static_cast<std::int32_t>(rank));
      any = true;
    }
    if (any) endpoint()->fail_receives(endpoint_comm.context, p2p::kAnySource);
  });
}

bool lost(const messages::MessageDescriptor& pattern) {
  if (own_link == nullptr || own_link->lost() == 0) return false;
  const EndpointComm& endpoint_comm = *pattern.endpoint_comm;
  if (pattern.envelope.source == p2p::kAnySource)
    return std::ranges::any_of(endpoint_comm.peers, [](const EndpointComm::Peer& peer) { return lost(peer); });
  return lost(endpoint_comm.peers[static_cast<std::size_t>(pattern.envelope.source)]);
}

void flush_link() {
  if (own_link == nullptr || endpoint() == nullptr) return;
  wait_until([] { return own_link->flushed(); });
}

bool answer_by_stripes() {
  transport::Stripes* const stripes = own_link != nullptr ? stripes_of_link() : nullptr;
  if (stripes != nullptr) stripes->settled();
  return stripes != nullptr;
}

}  // namespace urakata::shim
