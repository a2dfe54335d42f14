// SPDX-License-Identifier: BSD-3-Clause
// A neighbourhood channel, in full a persistent neighbourhood channel: all channels of one rank of one neighbourhood,
// for exchanges that come again and again. channel.hpp has the protocol of channels inside a space, far_channels.hpp
// that of channels between nodes. A neighbourhood channel may have both kinds.
//
// Setup
//   1. Each rank makes its neighbourhood channel from its ends (ChannelEnd), in its own order. Each sending end must be
//      joined with the receiving one: the caller carries record() of the sender to join() of the receiver. The k-th end
//      from one rank to another must meet the k-th one there. An MPI_Neighbor_alltoall of the records does so, also
//      with neighbours that are named twice and with the rank itself. An end without bytes that leads to MPI_PROC_NULL
//      is not joined.
//   2. A barrier. fit() then tells each sender what join() has told the receiver. No exchange may begin unless all
//      ends of all ranks are Fit::good. The caller must have all ranks agree on that.
// Ends between the same two ranks of a space may share a channel (channel_places.hpp). A neighbour on both sides of a
// periodic dimension is one example, many neighbours that are few ranks another. Payloads that share a channel arrive
// together. The address of a neighbourhood channel must not change. Its layouts must outlive it, be readable by all
// ranks, and have a canonical form.
//
// Use. begin() starts the rank's next exchange. All ranks begin the same exchanges. While an exchange is under way,
// the program must not touch the elements: received elements until ready() or ready_any() has reported the end, sent
// elements until complete(). The next exchange may begin when the one before is complete() at this rank; the
// neighbours' may still be under way. Neighbourhood channels are independent, and any number of them may be under way.
// A rank that waits for anything must call progress() of all its neighbourhood channels, since a neighbour may need
// it.
//
// Cost. begin() and all later progress allocate nothing, take no lock, never wait, and make no system call except to
// wake a sleeping neighbour. A channel takes six cache lines at the sender, four at the receiver, and what
// BounceBuffers counts. (Channels between nodes take locks and make system calls in the wire.)
//
// A neighbour that dies. Inside a space its payloads do not come, and the waiting ends with the job. If a neighbour on
// another node is lost or says that its side has failed, this side has failed(). The exchange under way is then
// complete() once progress() has told the neighbours, and later exchanges are complete() at once. The elements may
// hold anything.
//
// Teardown. Neighbours write to this rank's memory until they have completed their last exchange. retire() tells them
// that this rank is done. The memory may be freed when released() says that all neighbours have retired, too. Neither
// messages nor a barrier are needed. After a barrier the caller may skip both functions.
//
// Thread-safety: by one thread at a time; failed() by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "halo/bounce_memory.hpp"
#include "halo/channel_costs.hpp"
#include "halo/channel_end.hpp"
#include "halo/counts.hpp"
#include "halo/in_channels.hpp"
#include "halo/out_channels.hpp"
#include "p2p/backoff.hpp"

namespace urakata::transport {
class PutWire;
}

namespace urakata::halo {

class FarChannels;

class NeighbourhoodChannel {
 public:
  // `port` and `wire` must outlive the object. `wire` may be nullptr if no end is ChannelEnd::by_wire().
  NeighbourhoodChannel(p2p::Port& port, std::span<const ChannelEnd> out, std::span<const ChannelEnd> in,
                       const Costs& costs = {}, transport::PutWire* wire = nullptr);
  NeighbourhoodChannel(const NeighbourhoodChannel&) = delete;
  NeighbourhoodChannel& operator=(const NeighbourhoodChannel&) = delete;
  ~NeighbourhoodChannel();

  Record record(std::size_t out) { return out_.record(out); }
  Fit join(std::size_t in, const Record& record) { return in_.join(in, record); }
  Fit fit(std::size_t out) const { return out_.fit(out); }  // only for an end that is not far

  // `from` and `to`: base addresses of the ends' offsets; may differ from exchange to exchange.
  void begin(const std::byte* from, std::byte* to);

  // Makes all progress that needs no waiting. Returns whether there was any.
  bool progress();
  // Whether progress() would make any. Only reads.
  bool can_progress() const;
  bool complete() const { return under_way() == 0; }
  bool failed() const;
  // Whether there are channels with bytes inside this space (also to the rank itself), and whether there are any
  // between nodes.
  bool any_near() const { return near_; }
  bool any_far() const { return far_ != nullptr; }
  // Bytes of the longest payload to or from another node; 0 if there is none.
  std::uint64_t longest_far() const { return longest_far_; }
  // Number of receiving ends with bytes, from this space and from other nodes.
  std::size_t from_near() const { return in_.sources() - from_far(); }
  std::size_t from_far() const;
  // Returns when the exchange is complete. Makes progress of nothing else, except through `settings`.
  void wait(const p2p::BackoffSettings& settings);

  // Whether the payload of this end has arrived. Makes progress if it has not.
  bool ready(std::size_t in);
  // The next end whose payload has arrived, in order of arrival; each once in an exchange. Makes progress if there is
  // none. nullopt: all ends that have arrived have been returned.
  std::optional<std::size_t> ready_any();

  void retire();
  bool released() const;

  const Counts& counts() const { return counts_; }
  const BounceBuffers& bounce_buffers() const { return bounce_memory_.buffers(); }

 private:
  // Number of channels whose payload has not arrived or has not left.
  std::size_t under_way() const { return in_.waiting() + out_.leaving(); }
  bool told_of_failure();
  void end_failed();

  p2p::Port& port_;
  BounceMemory bounce_memory_;              // outlives far_, whose slices threads that poll the wire place in it
  const std::unique_ptr<FarChannels> far_;  // nullptr if no channel is between nodes
  OutChannels out_;
  InChannels in_;
  const std::uint64_t longest_far_;
  const bool near_;
  std::atomic<bool> failed_{false};  // stored by the thread that uses the object, relaxed; read by any

  std::uint64_t exchange_ = 0;  // number of the present exchange
  unsigned in_vain_ = 0;        // number of progress() calls that moved nothing, in the present exchange
  Counts counts_;
};

}  // namespace urakata::halo
