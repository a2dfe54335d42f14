#include "shim/space.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/log.hpp"
#include "base/options.hpp"
#include "shim/circle.hpp"
#include "shim/host.hpp"
#include "shim/host_send.hpp"
#include "shim/kin.hpp"
#include "shim/message_host.hpp"
#include "shim/planned_exchange.hpp"
#include "shim/process.hpp"
#include "shim/wait_until.hpp"
#include "space/crash_report.hpp"
#include "space/registry.hpp"
#include "tune/costs.hpp"

namespace urakata::shim {

namespace {

std::vector<p2p::Port*>& ports() {
  static auto* all = new std::vector<p2p::Port*>;
  return *all;
}

// The space of each rank of MPI_COMM_WORLD, 0 where it is in none.
std::vector<std::uint64_t>& spaces() {
  static auto* all = new std::vector<std::uint64_t>;
  return *all;
}

// While a rank waits for its space: our own collectives, and the host, which moves when it is asked anything.
bool poll_others() {
  const bool moved = process().progress().step_all();
  int flag = 0;
  host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, process().world(), &flag, MPI_STATUS_IGNORE);
  return moved;
}

constexpr p2p::CopyingSettings copying_settings(const tune::CopyCosts& costs) {
  const auto whole = [](double value) { return static_cast<std::uint64_t>(value); };
  return {.pack_below = whole(costs.pack_below),
          .share_from = whole(costs.share_from),
          .share_plain_from = whole(costs.share_plain_from),
          .short_block = whole(costs.short_block),
          .exchange_block = whole(costs.exchange_block),
          .loose = whole(costs.loose)};
}
static_assert(copying_settings(tune::CopyCosts{}) == p2p::CopyingSettings{}, "the same defaults");

p2p::CopyingSettings own_copying() {
  p2p::CopyingSettings settings = copying_settings(tune::costs().copy);
  switch (options().space_copy) {
    case CopyingWish::receiver:
      settings.always = p2p::Copying::receiver;
      break;
    case CopyingWish::sender:
      settings.always = p2p::Copying::sender;
      break;
    case CopyingWish::both:
      settings.always = p2p::Copying::both;
      break;
    case CopyingWish::automatic:
      break;
  }
  return settings;
}

p2p::Callers callers(bool helper) {
  if (process().told_level() == MPI_THREAD_MULTIPLE) return p2p::Callers::many;
  return helper && host.progress_register == nullptr ? p2p::Callers::one_and_helper : p2p::Callers::one;
}

// What each rank tells all others.
struct Card {
  std::uint64_t space = 0;  // identity of its space and of its port's protocol; 0: in none
  std::uint64_t port = 0;   // address
};

// Begins a barrier and calls `wait` with its request.
template <class Wait>
bool pass_barrier(Wait wait) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (host.Ibarrier(process().world(), &barrier) != MPI_SUCCESS) {
    log::error("the host refuses a barrier in MPI_Finalize; ranks of the space may miss messages");
    return false;
  }
  wait(&barrier);
  return true;
}

// urakata-exec has said why rank 0 is in no space. Where rank 0 is in one, the first rank that is not says it.
void tell_outside() {
  const auto first = std::find(spaces().begin(), spaces().end(), 0U);
  const char* why = std::getenv(space::kOutsideVariable);
  int rank = 0;
  host.Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 || first - spaces().begin() != rank || why == nullptr) return;
  log::warning("%zd of %zu ranks run as ordinary processes, outside the space; this one: %s",
               std::count(first, spaces().end(), 0U), spaces().size(), why);
}

}  // namespace

constinit p2p::Endpoint* own_endpoint = nullptr;
constinit FallbackProgress* fallback = nullptr;
constinit int tag_limit = 0;

void enter_space(bool wanted, bool helper) {
  const auto membership = wanted ? space::own_membership() : std::nullopt;
  Card own;
  p2p::Endpoint* made = nullptr;
  if (membership) {
    space::report_crashes(*membership);
    // Stays: others may still look at its port.
    made = new p2p::Endpoint(callers(helper), {process().oversubscribed(), p2p::pauses_between_polls(), poll_others},
                             own_copying());
    own = {membership->registry->identity ^ p2p::Port::kProtocol, reinterpret_cast<std::uint64_t>(&made->port())};
  }
  int ranks = 1;
  host.Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Card> cards(static_cast<std::size_t>(ranks));
  constexpr int kWords = sizeof(Card) / sizeof(std::uint64_t);
  host.Allgather(&own, kWords, MPI_UINT64_T, cards.data(), kWords, MPI_UINT64_T, process().world());
  for (const Card& card : cards) spaces().push_back(card.space);
  if (wanted && !membership) tell_outside();
  if (made == nullptr) return;

  for (const Card& card : cards) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    ports().push_back(card.space == own.space ? reinterpret_cast<p2p::Port*>(card.port) : nullptr);
  }
  tag_limit = process().largest_tag();
  open_mixed_queue(*made, process().told_level() == MPI_THREAD_MULTIPLE);
  own_endpoint = made;
  host.message_path = MessagePath::space;
  Circle::one_thread = callers(helper) == p2p::Callers::one;
  if (host.progress_register != nullptr) {
    process().progress().hook();
  } else if (helper) {
    fallback = new FallbackProgress("urakata/space", "messages in the space", [made] {
      made->progress_if_free();
      progress_mixed();
      progress_exchanges();
      return made->open() || mixed_queue->waiting() || exchanges_under_way();
    });
  }
  log::detail("%zu of %d ranks share this rank's space", ranks_in_space(), ranks);
  open_circle(MPI_COMM_WORLD, kin_of(MPI_COMM_WORLD)->place);
}

void stop_space_helper() {
  if (fallback != nullptr) fallback->stop();
}

void leave_space() {
  if (!spaces_in_job()) return;
  HostSend::finish_detached();
  const auto asleep = [](MPI_Request* barrier) { host.Wait(barrier, MPI_STATUS_IGNORE); };
  const auto moving = [](MPI_Request* barrier) {
    int done = 0;
    wait_until([&] { return host.Test(barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0; });
  };
  const bool all_here = endpoint() == nullptr ? pass_barrier(asleep) : pass_barrier(moving);
  stop_space_helper();
  PlannedExchange::stop_all();
  own_endpoint = nullptr;
  // A neighbour may have moved an exchange until now.
  if (all_here && pass_barrier(asleep)) PlannedExchange::destroy_abandoned();
}

p2p::Port* port_of(int world_rank) { return ports()[static_cast<std::size_t>(world_rank)]; }

std::size_t ranks_in_space() {
  return ports().size() - static_cast<std::size_t>(std::count(ports().begin(), ports().end(), nullptr));
}

bool spaces_in_job() {
  return std::any_of(spaces().begin(), spaces().end(), [](std::uint64_t space) { return space != 0; });
}

}  // namespace urakata::shim
