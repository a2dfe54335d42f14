// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifecycle/space_entry.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/log.hpp"
#include "base/waiting.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/collectives/direct_exchange.hpp"
#include "shim/collectives/direct_progress.hpp"
#include "shim/collectives/exchange_progress.hpp"
#include "shim/communicators/communicator_origin.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/messages/native_send.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/asking_native.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/copying_costs.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/progress.hpp"
#include "shim/progress/wait_until.hpp"
#include "space/crash_report.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

namespace {

// Progresses Urakata's collectives and the MPI library, while this rank waits for messages. Any call progresses the
// library.
bool poll_others() {
  const bool moved = the_progress->step_all();
  int flag = 0;
  const AskingNative asking;
  native.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, private_comms.world, &flag, MPI_STATUS_IGNORE);
  return moved;
}

p2p::Callers callers(bool progress_thread) {
  if (process_state.told_level == MPI_THREAD_MULTIPLE) return p2p::Callers::many;
  if (link_has_progress_thread()) return p2p::Callers::one_and_often;
  return progress_thread ? p2p::Callers::one_and_progress_thread : p2p::Callers::one;
}

// What each rank tells all others in enter_space().
struct SpaceRecord {
  std::uint64_t space = 0;  // identity of its space, combined with the protocol of its port; 0: in no space
  std::uint64_t port = 0;   // address of its port
  std::uint64_t link = 0;   // 1: it has a link; 0: none
};

// Begins a barrier and calls `wait` with its request.
template <class Wait>
bool pass_barrier(Wait wait) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (native.Ibarrier(private_comms.world, &barrier) != MPI_SUCCESS) {
    log::error("the MPI library refuses a barrier in MPI_Finalize; ranks of the space may miss messages");
    return false;
  }
  wait(&barrier);
  return true;
}

p2p::BackoffSettings own_backoff(bool in_space) {
  p2p::BackoffSettings settings{process_state.oversubscribed, in_space ? p2p::pauses_between_polls() : 0, poll_others};
  if (link() != nullptr) wait_by_link(in_space, settings);
  return settings;
}

std::size_t ranks_by_link() {
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < rank_ways().links.size(); ++rank) {
    if (link_to(static_cast<int>(rank)) != p2p::kNoPeer) ++count;
  }
  return count;
}

// Prints why a rank is outside the space. If rank 0 is outside, urakata-exec has printed it already. Else the first
// rank that is outside prints it.
void tell_outside() {
  const std::vector<std::uint64_t>& spaces = rank_ways().spaces;
  const auto first = std::find(spaces.begin(), spaces.end(), 0U);
  const char* why = std::getenv(space::kOutsideVariable);
  int rank = 0;
  native.Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 || first - spaces.begin() != rank || why == nullptr) return;
  log::warning("%zd of %zu ranks run as ordinary processes, outside the space; this one: %s",
               std::count(first, spaces.end(), 0U), spaces.size(), why);
}

}  // namespace

void enter_space(bool wanted, bool progress_thread) {
  const auto membership = wanted ? space::own_membership() : std::nullopt;
  SpaceRecord own;
  std::unique_ptr<p2p::Endpoint> opened;
  if (membership || link() != nullptr) {
    opened =
        std::make_unique<p2p::Endpoint>(callers(progress_thread), own_backoff(membership.has_value()), own_copying());
    own.link = link() != nullptr ? 1 : 0;
  }
  if (membership) {
    space::report_crashes(*membership);
    own.space = membership->registry->identity ^ p2p::Port::kProtocol;
    own.port = reinterpret_cast<std::uint64_t>(&opened->port());
  }
  int ranks = 1;
  native.Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<SpaceRecord> records(static_cast<std::size_t>(ranks));
  constexpr int kWords = sizeof(SpaceRecord) / sizeof(std::uint64_t);
  native.Allgather(&own, kWords, MPI_UINT64_T, records.data(), kWords, MPI_UINT64_T, private_comms.world);
  RankWays& ways = rank_ways();
  for (const SpaceRecord& record : records) {
    ways.spaces.push_back(record.space);
    ways.links.push_back(record.link != 0);
  }
  if (wanted && !membership) tell_outside();
  const std::size_t linked = ranks_by_link();
  if (opened == nullptr || (!membership && linked == 0)) return;
  p2p::Endpoint* const made = opened.release();  // never freed: others may still look at its port

  for (const SpaceRecord& record : records) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    ways.ports.push_back(membership && record.space == own.space ? reinterpret_cast<p2p::Port*>(record.port) : nullptr);
  }
  ways.ports[static_cast<std::size_t>(process_state.world_rank)] = &made->port();
  if (linked != 0) {
    made->attach(*link());
    log::information("the program's messages to %zu of %d ranks go by transport wire", linked, ranks);
  }
  tag_limit = private_comms.largest_tag;
  open_mixed_queue(*made, process_state.told_level == MPI_THREAD_MULTIPLE);
  own_endpoint = made;
  native.message_path = MessagePath::space;
  EndpointComm::one_thread = callers(progress_thread) == p2p::Callers::one;
  if (native.progress_register != nullptr) {
    the_progress->hook();
  } else if (progress_thread) {
    periodic = new PeriodicProgress("urakata/space", "messages of the program", [made] {
      made->progress_if_free();
      progress_mixed();
      progress_exchanges();
      direct::Operations::progress_all(direct::Operations::Caller::progress_thread);
      const bool sending = link() != nullptr && link()->sending();
      return made->open() || sending || mixed_queue->waiting() || exchanges_under_way() ||
             direct::Operations::any_under_way();
    });
  }
  if (membership) log::detail("%zu of %d ranks share this rank's space", ranks_in_space(), ranks);
  open_endpoint_comm(MPI_COMM_WORLD, origin_of(MPI_COMM_WORLD)->contexts);
  open_world_direct();
}

void stop_message_progress() {
  if (periodic != nullptr) periodic->stop();
  stop_exchange_progress();
  stop_direct_progress();
  stop_link_progress();
}

void leave_space() {
  if (!ChannelExchange::any_in_job()) return;
  finish_direct();
  if (link() != nullptr) link()->expect_ends();
  NativeSend::finish_detached();
  // Others may still need this rank's part in collectives, which no progress thread moves any more.
  const auto stepping = [](MPI_Request* barrier) {
    Ladder ladder(process_state.oversubscribed);
    int done = 0;
    while (native.Test(barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
      if (!the_progress->step_all()) ladder.step();
    }
  };
  const auto moving = [](MPI_Request* barrier) {
    int done = 0;
    wait_until([&] { return native.Test(barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0; });
  };
  const bool all_here = endpoint() == nullptr ? pass_barrier(stepping) : pass_barrier(moving);
  stop_message_progress();
  ChannelExchange::stop_all();
  flush_link();
  own_endpoint = nullptr;
  const auto answering = [](MPI_Request* barrier) {
    Ladder ladder(process_state.oversubscribed);
    int done = 0;
    while (answer_by_stripes() && native.Test(barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
      ladder.step();
    native.Wait(barrier, MPI_STATUS_IGNORE);
  };
  // A neighbour may have moved an exchange until now.
  if (all_here && pass_barrier(answering)) ChannelExchange::destroy_abandoned();
}

}  // namespace urakata::shim
