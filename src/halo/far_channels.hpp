// SPDX-License-Identifier: BSD-3-Clause
// The channels of a neighbourhood channel to and from ranks that share no memory with this rank. Payloads travel in
// put frames (transport/wire/puts.hpp). A connection delivers the frames of a pair of ranks in order, so the last byte
// of a payload serves as its sequence flag.
//
// Exchanges are numbered as in channel.hpp. A payload travels as frames of at most one slice. Each frame names its
// channel and its exchange. The payload of exchange k takes one of two ways:
//     direct   the receiver has begun k: the frame is read into the elements. If the elements have holes, the frame is
//              read into a buffer for one slice and unpacked from there;
//     bounced  the receiver has not begun k: the frame is read into the bounce buffer with index k mod 2. begin_in()
//              unpacks the payload from there.
// A channel without a bounce buffer (the payload is long, or the budget is used up) *asks*: its sender waits for the
// receiver's ready frame of k, so no payload of the channel is ever bounced. There are no RTS and no CTS, and no frame
// waits for a receive to be posted.
//
// Invariants
//   1. and 2. As in channel.hpp, with a ready frame for the ready flag. A symmetric relation proves that the bounce
//      buffer is free. In a one-way relation ready k - 1 proves it. If a channel asks, ready k proves that the
//      receiver's elements may be written.
//   3. The frames of a channel come in order and without gaps: the next one belongs to exchange `came` + 1, at byte
//      `at`.
//   4. The elements are written between begin_in() of k and the last byte of k, under the lock or by the wire's read.
//      give_up() ends such a read.
//   5. The sender's elements are read until the payload has left. The wire says when it has.
//
// Setup. The receiver's join() sends an answer through the wire: which channel is which, and whether the channel asks
// or needs credit. Puts are held until the answer has come. The caller therefore only has to carry records from
// senders to receivers. A rank that hands out a record watches the receiver from then on: either the answer or the
// failure of the neighbourhood channel comes through the wire.
//
// Failure. If a neighbour is lost, or says that its neighbourhood channel has failed, this one has failed, too. The
// caller that waits is told, and tells all remaining neighbours (put_over). All ranks that channels connect hear of
// the failure this way, and none hangs.
//
// Thread-safety: failed() by any thread; the other public functions by one thread at a time, the one that uses the
// neighbourhood channel; the functions of the sink by any thread that uses the wire, under the wire's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/mutex.hpp"
#include "halo/channel.hpp"
#include "halo/counts.hpp"
#include "transport/wire/puts.hpp"

namespace urakata::halo {

class FarChannels final : private transport::PutSink {
 public:
  explicit FarChannels(transport::PutWire& wire) : wire_(wire) {}
  FarChannels(const FarChannels&) = delete;
  FarChannels& operator=(const FarChannels&) = delete;
  ~FarChannels() {
    if (number_ != kNone) wire_.remove(number_);
  }

  // Number by which frames to this rank name this object. Valid after enter().
  std::int32_t number() const { return number_; }
  std::size_t size() const { return out_.size() + in_.size(); }  // number of channels
  std::size_t sources() const { return in_.size(); }             // number of receiving channels

  // Add an end with bytes. To be called before enter(). `rank`: the wire's number of the other rank. Return the
  // channel's number at this rank.
  std::uint32_t add_out(std::int32_t rank, const Elements& source, std::uint64_t bytes);
  std::uint32_t add_in(std::int32_t rank, const Elements& target, std::uint64_t bytes, bool one_way);
  // Gives a receiving end two bounce buffers, `bounce_bytes` bytes apart. Without them the channel asks.
  void set_bounce(std::uint32_t in, std::byte* bounce, std::uint64_t bounce_bytes);
  // Bytes for slices of elements with holes if no channel has bounce buffers.
  std::uint64_t most_rooms() const;
  // To be called once, after all of the above. Allocates memory for slices that are not bounced and registers the sink
  // at the wire: from then on threads that poll the wire call the sink. Returns the bytes allocated for slices, in and
  // out.
  std::uint64_t enter();

  // The channel's record is about to be carried to the receiver, which will join it. If the receiver is lost from now
  // on, the neighbourhood channel fails.
  void await_join(std::uint32_t out) { wire_.watch(out_[out].peer->rank, *this); }
  // Joins the receiving end `in` with channel `out` of the sender's object number `sink`, and tells the sender.
  void join(std::uint32_t in, std::int32_t sink, std::uint32_t out);

  // Starts exchange k of a receiving end with elements at `address`.
  void begin_in(std::uint64_t k, std::uint32_t in, std::byte* address, Counts& counts);
  // Sends the ready frames of exchange k to the ranks that need them. To be called after begin_in() of all receiving
  // ends.
  void tell_ready(std::uint64_t k, Counts& counts);
  // As begin(), advance() and can_progress() of OutChannel, with elements at `address`.
  bool begin_out(std::uint64_t k, std::uint32_t out, std::byte* address, Counts& counts);
  bool advance(std::uint64_t k, std::uint32_t out, Counts& counts);
  bool can_progress(std::uint64_t k, std::uint32_t out) const;
  // Whether the payload of k is in the elements.
  bool here(std::uint64_t k, std::uint32_t in) const { return in_[in].taken.load(std::memory_order_acquire) >= k; }

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // After a failure: stops all access to elements, and tells the remaining neighbours. Returns whether all of them have
  // been told.
  bool give_up();

 private:
  static constexpr std::int32_t kNone = -1;
  struct Peer {
    std::int32_t rank = 0;
    std::atomic<std::int32_t> sink{kNone};  // number of the peer's sink; known once a channel is joined; relaxed
    bool tell = false;                      // whether the peer needs ready frames
    bool told = false;                      // whether the peer has been told of this side's failure
    std::uint64_t most_room = 0;            // bytes that `room` needs if no channel from the peer has bounce buffers
    std::vector<std::byte> room;            // buffer for an incoming slice that is unpacked and not bounced
    std::atomic<std::uint64_t> ready{0};    // number of the latest ready frame; stored by the sink, release
    std::atomic<bool> lost{false};          // stored by the sink, release
  };
  struct Out {
    // Constant.
    Peer* peer = nullptr;
    std::uint64_t bytes = 0;
    // Set by the sink before `open` (release), constant afterwards.
    std::int32_t sink = 0;  // number of the receiver's sink
    std::uint32_t in = 0;
    bool asks = false;
    bool credit = false;
    std::atomic<bool> open{false};
    std::atomic<bool> left{true};   // whether the last put has left; cleared by the caller, set by the sink, release
    std::atomic<bool> held{false};  // whether the present payload must wait; stored by the caller, relaxed
    // Used by the caller only.
    Elements source;
    std::uint64_t at = 0;           // payload bytes handed to the wire
    std::vector<std::byte> packed;  // packed copy of the slice under way, for elements with holes
  };
  // How far an incoming payload is, and where it goes.
  struct Arrival {
    Elements target;
    std::uint64_t begun = 0;  // number of exchanges begun
    std::uint64_t came = 0;   // number of exchanges whose whole payload has come
    std::uint64_t at = 0;     // bytes of the next payload that have come
    bool unpacks = false;     // whether the slice under way is not read straight into the elements
  };
  class In {
   public:
    // Constant once the channel is joined.
    Peer* peer = nullptr;
    std::uint64_t bytes = 0;
    std::byte* bounce = nullptr;
    std::uint64_t bounce_bytes = 0;
    bool one_way = false;

    Arrival& arrival([[maybe_unused]] const FarChannels& channels) URAKATA_REQUIRES(channels.lock_) { return arrival_; }
    const Arrival& arrival([[maybe_unused]] const FarChannels& channels) const URAKATA_REQUIRES(channels.lock_) {
      return arrival_;
    }
    // Only before enter(), when no other thread has the channel.
    Elements& target_before_enter() { return arrival_.target; }

   private:
    Arrival arrival_;  // under the lock

   public:
    std::atomic<std::uint64_t> taken{0};  // number of exchanges whose payload is in the elements; stored under the lock
  };

  std::byte* place(std::int32_t from, const transport::Frame& frame) override;
  bool arrived(std::int32_t from, const transport::Frame& frame) override;
  void left(std::uint32_t channel) override { out_[channel].left.store(true, std::memory_order_release); }
  bool lost(std::int32_t rank) override;

  Peer& peer(std::int32_t rank);
  In* in_of(std::int32_t from, const transport::Frame& frame);
  bool opened(std::int32_t from, const transport::Frame& frame);
  bool slice_arrived(std::int32_t from, const transport::Frame& frame);
  static std::uint64_t slice_of(const In& in) { return std::min(in.bytes, transport::PutWire::kSlice); }
  std::byte* bounce_of(const In& in, std::uint64_t k) const { return in.bounce + k % 2 * in.bounce_bytes; }
  bool may_go(std::uint64_t k, const Out& out) const;
  void fail() { failed_.store(true, std::memory_order_release); }

  transport::PutWire& wire_;
  // Complete when enter() registers the sink, since the wire calls from other threads. Constant afterwards, except for
  // the members that say otherwise.
  std::deque<Peer> peers_;
  std::deque<Out> out_;
  std::deque<In> in_;
  std::int32_t number_ = kNone;  // set by enter()
  Mutex lock_;                   // guards the arrivals of all channels; taken inside the wire's lock, if both are
  std::atomic<bool> failed_{false};
};

}  // namespace urakata::halo
