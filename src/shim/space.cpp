#include "shim/space.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/log.hpp"
#include "p2p/rescue.hpp"
#include "shim/channel.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"
#include "space/crash_report.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

namespace {

p2p::Endpoint* here = nullptr;
p2p::Rescue* rescue = nullptr;  // where the host cannot call us while the program is blocked in it
int tag_limit = 0;

std::vector<p2p::Port*>& ports() {
  static auto* all = new std::vector<p2p::Port*>;
  return *all;
}

// While a rank waits for its space: our own collectives, and the host, which moves when it is asked anything.
bool poll_others() {
  const bool moved = process().step_all();
  int flag = 0;
  host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, process().world(), &flag, MPI_STATUS_IGNORE);
  return moved;
}

// What each rank tells all others.
struct Card {
  std::uint64_t space = 0;     // identity of its space; 0: in none
  std::uint64_t protocol = 0;  // of its port
  std::uint64_t port = 0;      // address
};

}  // namespace

void enter_space(bool threaded, bool oversubscribed) {
  const auto membership = space::join();
  Card own;
  p2p::Endpoint* made = nullptr;
  if (membership) {
    space::report_crashes();
    made = new p2p::Endpoint(threaded, {oversubscribed, poll_others});  // stays: others may still look at its port
    membership->own().published.store(&made->port(), std::memory_order_release);
    own = {membership->registry->identity, p2p::Port::kProtocol, reinterpret_cast<std::uint64_t>(&made->port())};
  }
  int ranks = 1;
  host.Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Card> cards(static_cast<std::size_t>(ranks));
  constexpr int kWords = sizeof(Card) / sizeof(std::uint64_t);
  host.Allgather(&own, kWords, MPI_UINT64_T, cards.data(), kWords, MPI_UINT64_T, process().world());
  if (made == nullptr) return;

  for (const Card& card : cards) {
    const bool ours = card.space == own.space && card.protocol == own.protocol;
    ports().push_back(ours ? reinterpret_cast<p2p::Port*>(card.port) : nullptr);
  }
  int* most = nullptr;
  int found = 0;
  host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  tag_limit = found != 0 ? *most : 32767;
  here = made;
  if (host.progress_register == nullptr && threaded) rescue = new p2p::Rescue(*made);
  log::detail("%zu of %d ranks share this rank's space",
              ports().size() - static_cast<std::size_t>(std::count(ports().begin(), ports().end(), nullptr)), ranks);
  open_world(ports());
}

void expect_messages() {
  if (rescue != nullptr) rescue->expect();
}

void stop_space_helper() {
  if (rescue != nullptr) rescue->stop();
}

void leave_space() {
  if (here == nullptr) return;
  MPI_Request barrier = MPI_REQUEST_NULL;
  int done = 0;
  if (host.Ibarrier(process().world(), &barrier) == MPI_SUCCESS) {
    p2p::Patience patience(here->port(), here->manners());
    while (done == 0 && host.Test(&barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
      if (done == 0 && !here->progress()) patience.step([] { return false; });
    }
  }
  stop_space_helper();
  here = nullptr;
}

p2p::Endpoint* endpoint() { return here; }
p2p::Port* port_of(int world_rank) { return ports()[static_cast<std::size_t>(world_rank)]; }
int largest_tag() { return tag_limit; }

}  // namespace urakata::shim
