// SPDX-License-Identifier: BSD-3-Clause
// A persistent neighbourhood channel (halo/neighbourhood_channel.hpp) of this rank, under way or not. It belongs to a
// persistent neighbourhood collective, behind one of our requests, or to a halo of urakata.h. Each neighbour shares
// this rank's space or is reached by transport wire.
//
// Only its own rank makes progress of a neighbourhood channel: in calls of the program, and in calls that the MPI
// library makes to us while the program blocks in it (Progress). If the MPI library cannot call us, the progress
// thread for messages does it, or a progress thread for neighbourhood channels alone. Any thread that polls the wire
// takes in what comes from other nodes. Halos with long payloads between nodes have a progress thread
// (exchange_progress.hpp).
//
// Thread-safety: an exchange belongs to one thread at a time, but any thread may call progress() and done().
// stop_all(), destroy_abandoned() and start_exchange_progress() by the thread that calls MPI_Init and MPI_Finalize; the
// rest by any.
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
#include "shim/collectives/exchange_progress.hpp"
#include "shim/requests/neighbour_exchange.hpp"

namespace urakata::shim {

class ChannelExchange final : public NeighbourExchange {
 public:
  static constexpr std::string_view kAlgorithm = "channels";

  // Whether ranks of this job may have neighbourhood channels. The same on all ranks.
  static bool any_in_job();
  // An exchange for a persistent collective is made in two steps, propose() and meet(), each collective over the
  // communicator. The layouts must outlive it. `reading`: nullptr if this rank has no memory. Answer `refused`: the
  // call falls back to the MPI library. `no`: there is no neighbourhood channel. `yes`: each rank has one, to be
  // joined by meet().
  struct Proposal {
    ChannelAnswer answer = ChannelAnswer::no;
    std::unique_ptr<ChannelExchange> exchange = nullptr;  // set if the answer is yes
  };
  static Proposal propose(const Reading* reading, Communicator& comm);
  // `group`: a communicator of the same ranks with an unused context. Returns false, on all ranks alike, if endpoints
  // do not fit.
  bool meet(const Call& call, const Reading& reading, const Communicator& group);
  // An exchange whose endpoints the caller joins, and on which the caller has all ranks agree
  // (halo/neighbourhood_channel.hpp). nullptr: this rank cannot have one. The layouts must outlive it.
  static std::unique_ptr<ChannelExchange> make(std::span<const halo::ChannelEnd> out,
                                               std::span<const halo::ChannelEnd> in);
  // The value of halo::ChannelEnd::far for a rank of MPI_COMM_WORLD. nullopt: channels cannot reach the rank.
  static std::optional<std::int32_t> way_to(std::int32_t world_rank);
  halo::Record record(std::size_t out) { return channel_.record(out); }
  halo::Fit join(std::size_t in, const halo::Record& record) { return channel_.join(in, record); }

  ~ChannelExchange() override;

  // Lets long payloads to and from other nodes progress while the program computes, if the job has progress threads.
  // To be called before the first exchange. wait() must then end every exchange.
  void move_while_computing() {
    by_progress_thread_ = channel_.longest_far() > kFirstWindow && want_exchange_progress();
  }

  // Sets the observer of each exchange's end; nullptr: none.
  void observe(observe::ObservedInstance* observed) { observed_ = observed; }

  // Sets the base addresses of the endpoints' offsets for later exchanges. No exchange may be under way.
  void bind(const std::byte* from, std::byte* to) {
    from_ = from;
    to_ = to;
  }
  void begin() override;  // does not allocate
  bool done() const override { return done_.load(std::memory_order_acquire); }
  // Makes progress unless another thread does. Returns whether there was any.
  bool progress();
  int error() const override { return channel_.failed() ? kFailure : MPI_SUCCESS; }
  // Whether all payloads come through the network.
  bool all_far() const { return !channel_.any_near(); }
  // For the report: the number of channels by kind, and the bounce buffers. Each rank has the extent of its own
  // neighbourhood channel. tell() takes the sum over all ranks and makes why() from it. In a sum, the bytes and the
  // budget of bounce buffers are those of the rank with the most bytes.
  struct Extent {
    std::uint64_t near = 0;
    std::uint64_t far = 0;
    halo::BounceBuffers bounce_buffers = {};
    void operator+=(const Extent& other);
  };
  Extent extent() const { return {channel_.from_near(), channel_.from_far(), channel_.bounce_buffers()}; }
  void tell(const Extent& of_all);
  std::string_view why() const { return why_; }
  // ready() and ready_any() of the neighbourhood channel, for the last exchange. While another thread makes progress,
  // the answer is false or nullopt.
  bool ready(std::size_t in);
  std::optional<std::size_t> ready_any();
  void wait() override;

  // In MPI_Finalize, after all ranks have entered it: ends the progress of all exchanges, also of those under way.
  static void stop_all();
  // After a barrier that follows stop_all(): destroys all abandoned exchanges, even if neighbours have not released
  // them.
  static void destroy_abandoned();

 private:
  static constexpr int kFailure = MPI_ERR_OTHER;

  ChannelExchange(std::span<const halo::ChannelEnd> out, std::span<const halo::ChannelEnd> in,
                  const halo::Costs& costs);
  bool join_all(const Reading& reading, const Communicator& group);
  bool settle();
  void end();
  void retire();
  // Completes the exchange if it is under way. Its memory is freed when the neighbours no longer need it.
  void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) override;
  static std::unique_ptr<ChannelExchange> make_here(const Reading& reading, const Communicator& group);
  static void destroy_released();

  halo::NeighbourhoodChannel channel_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  SpinLock lock_;           // protects channel_ and abandoned_
  bool abandoned_ = false;  // whether the channel is to be retired when the exchange is done
  bool by_progress_thread_ = false;
  observe::ObservedInstance* observed_ = nullptr;
  std::string why_;
  std::vector<const Datatype*> types_;  // datatypes retained since the exchange was abandoned
  std::atomic<bool> done_{true};
};

// Makes progress of all exchanges under way. Returns whether there was any.
bool progress_exchanges();
// Whether exchanges are under way; whether any of them has channels inside the space, on which the wire's descriptor
// does not report.
bool exchanges_under_way();
bool near_exchanges_under_way();
// Whether exchanges for the progress thread of exchange_progress.hpp are under way.
bool long_exchanges_under_way();

// Starts a progress thread for exchanges, `periodic`. Needed if the MPI library cannot call us while the program
// blocks in it and no progress thread looks after messages.
void start_exchange_progress();

}  // namespace urakata::shim
