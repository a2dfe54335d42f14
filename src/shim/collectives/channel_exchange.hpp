// An exchange plan (halo/plan.hpp) of this rank, under way or not: of a persistent neighbourhood collective, behind one of
// our requests, or of a halo of urakata.h. Its neighbours share this rank's space, or transport wire leads to them.
//
// Nobody moves a plan but its rank, in calls of the program and where the host calls us while the program is blocked in
// it (Progress); where it cannot, the helper that looks after messages, or one for plans alone. What comes from other
// nodes is taken in by whoever polls the wire. Halos with long payloads between nodes have a helper
// (exchange_helper.hpp).
//
// Thread-safety: by any thread; a plan belongs to one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spin_lock.hpp"
#include "halo/neighbourhood_channel.hpp"
#include "observe/call_site.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/collectives/channel_agreement.hpp"
#include "shim/collectives/exchange_helper.hpp"
#include "shim/collectives/neighbour_exchange.hpp"

namespace urakata::shim {

class ChannelExchange final : public NeighbourExchange {
 public:
  static constexpr std::string_view kAlgorithm = "exchange plan";

  // May ranks of this job have plans? The same on all.
  static bool any_in_job();
  // Of a persistent collective, in two steps, each collective over its communicator. The layouts must outlive it.
  // `reading`: nullptr where this rank has no memory. refused: the call is the host's. no: there are no plans. yes: each
  // rank has one, to be joined by meet().
  struct Proposal {
    ChannelAnswer answer = ChannelAnswer::no;
    std::unique_ptr<ChannelExchange> exchange = nullptr;  // where the answer is yes
  };
  static Proposal propose(const Reading* reading, Communicator& comm);
  // `group`: the communicator's, with a context that nothing uses. False, on all ranks alike: the ends do not fit.
  bool meet(const Call& call, const Reading& reading, const Communicator& group);
  // Of edges whose ends the caller joins, as halo/plan.hpp says, which has all ranks agree. nullptr: not to be had on this
  // rank. The layouts must outlive it.
  static std::unique_ptr<ChannelExchange> make(std::span<const halo::ChannelEnd> out,
                                               std::span<const halo::ChannelEnd> in);
  // Which way leads to a rank of MPI_COMM_WORLD, for halo::End::far; nothing: none that plans have.
  static std::optional<std::int32_t> way_to(std::int32_t world_rank);
  halo::Record record(std::size_t out) { return channel_.record(out); }
  halo::Fit join(std::size_t in, const halo::Record& record) { return channel_.join(in, record); }

  ~ChannelExchange() override;

  // Long payloads to and from other nodes move while the program computes, where the run has a helper for that. Before
  // the first exchange, which wait() ends then.
  void move_while_computing() { by_helper_ = channel_.longest_far() > kFirstWindow && want_exchange_helper(); }

  // Who is told of the end of each exchange; nullptr: nobody.
  void observe(observe::ObservedInstance* observed) { observed_ = observed; }

  // What the ends' offsets count from, in exchanges that begin from now on. The one before is done.
  void bind(const std::byte* from, std::byte* to) {
    from_ = from;
    to_ = to;
  }
  void begin() override;  // does not allocate
  bool done() const override { return done_.load(std::memory_order_acquire); }
  // Moves it on, if nobody else does. Returns whether anything moved.
  bool progress();
  int error() const override { return channel_.failed() ? kFailure : MPI_SUCCESS; }
  // Does the network alone bring what is waited for?
  bool all_far() const { return !channel_.any_near(); }
  // For the report: of all ranks' plans, the edges by their ways and what is said of landing places, whose bytes and
  // budget are those of the rank where they take most. Each tells of its own, and is told of all, from which why() is
  // made.
  struct Extent {
    std::uint64_t near = 0;
    std::uint64_t far = 0;
    halo::BounceBuffers bounce_buffers = {};
    void operator+=(const Extent& other);
  };
  Extent extent() const { return {channel_.from_near(), channel_.from_far(), channel_.bounce_buffers()}; }
  void tell(const Extent& of_all);
  std::string_view why() const { return why_; }
  // As the plan's, of the exchange that was begun last; but while another thread moves it, nothing is known.
  bool ready(std::size_t in);
  std::optional<std::size_t> ready_any();
  void wait() override;

  // In MPI_Finalize, when all ranks are there: none is moved on any more, be it under way or not.
  static void stop_all();
  // After a barrier behind stop_all(): what was abandoned is destroyed, whoever has not released it.
  static void destroy_abandoned();

 private:
  static constexpr int kFailure = MPI_ERR_OTHER;

  ChannelExchange(std::span<const halo::ChannelEnd> out, std::span<const halo::ChannelEnd> in,
                  const halo::Costs& costs);
  bool join_all(const Reading& reading, const Communicator& group);
  bool settle();
  void end();
  void retire();
  // It is completed if it must be, and its memory is given back when the neighbours need it no more either.
  void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) override;
  static std::unique_ptr<ChannelExchange> make_here(const Reading& reading, const Communicator& group);
  static void destroy_released();

  halo::NeighbourhoodChannel channel_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  SpinLock lock_;           // of plan_ and abandoned_
  bool abandoned_ = false;  // to be retired when it is done
  bool by_helper_ = false;
  observe::ObservedInstance* observed_ = nullptr;
  std::string why_;
  std::vector<const Datatype*> types_;  // retained, once it is abandoned
  std::atomic<bool> done_{true};
};

// Moves on all exchanges that are under way. Returns whether anything moved.
bool progress_exchanges();
// Are any under way? And such of whose end the wire's descriptor does not tell?
bool exchanges_under_way();
bool near_exchanges_under_way();
// Are any for the helper of exchange_helper.hpp?
bool long_exchanges_under_way();

// Where the host cannot call us while the program is blocked in it and nobody looks after messages: begins to move plans
// by a helper, `fallback`.
void start_exchange_helper();

}  // namespace urakata::shim
