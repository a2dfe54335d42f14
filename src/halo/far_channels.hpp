// The edges of a plan to and from ranks that share no memory with it, by put frames (transport/puts.hpp). The protocol is
// that of edge.hpp with frames for marks: a connection brings a pair's frames in order, so that a payload's last byte is
// its mark.
//
// Exchanges are numbered as there. The payload of k goes as frames of up to a slice, each of which names edge and exchange.
// With k it goes
//     direct    the receiver has begun k: the frame is read into its elements, or, with holes, into a room from where it
//               is unpacked;
//     landed    it has not: into the landing place of the turn of k, k mod 2, from where begin() unpacks it.
// An edge without a landing place (large, or beyond the budget) *asks*: its sender waits for the receiver's ready frame
// of k, so it has no landed payloads. There is neither RTS nor CTS, and no frame waits for a receive to be posted.
//
// Invariants
//   1. and 2. as in edge.hpp, with a ready frame for the ready mark: a symmetric relation proves that the turn is free;
//      in a relation that goes one way ready k - 1 does; where an edge asks, ready k proves that the elements are.
//   3. The frames of an edge come in order and without gaps: the next one is of exchange `came` + 1, at byte `at`.
//   4. The elements are written to from begin() of k on to the last byte of k, under the sink's lock or by the wire's
//      read, which give_up() ends.
//   5. The sender's elements are read until its payload has left; the wire says so.
//
// Setting up. The receiver's join() sends back, by wire, which edge is which, and whether it asks or needs credit; puts
// are held until that is here. So the means by which records travel need only lead from senders to receivers. Whoever
// gives a record away watches its receiver from then on: the answer, or the end of the plan, comes by the wire.
//
// Failure. Where a neighbour is lost, or says that its plan has failed, this one has failed: whoever waits is told, and
// tells all neighbours that are left (put_over). So word gets to all whom plans connect, and nothing hangs.
//
// Thread-safety: the functions by one thread at a time, the plan's; the sink's by whoever polls the wire.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "halo/channel.hpp"
#include "halo/counts.hpp"
#include "transport/puts.hpp"

namespace urakata::halo {

class FarChannels final : private transport::PutSink {
 public:
  explicit FarChannels(transport::PutWire& wire) : wire_(wire) {}
  FarChannels(const FarChannels&) = delete;
  FarChannels& operator=(const FarChannels&) = delete;
  ~FarChannels() {
    if (number_ != kNone) wire_.remove(number_);
  }

  // The plan's number in frames to this rank. After enter().
  std::int32_t number() const { return number_; }
  std::size_t size() const { return out_.size() + in_.size(); }
  std::size_t sources() const { return in_.size(); }

  // Ends are added before enter(); each has bytes. `rank`: of the wire's. Returned is the edge's number here.
  std::uint32_t add_out(std::int32_t rank, const Elements& source, std::uint64_t bytes);
  // `landing`: two places, `landing_room` bytes apart; nullptr: the edge asks.
  std::uint32_t add_in(std::int32_t rank, const Elements& target, std::uint64_t bytes, bool one_way);
  void set_bounce(std::uint32_t in, std::byte* bounce, std::uint64_t bounce_bytes);
  // Bytes for slices of elements with holes, where no edge lands.
  std::uint64_t most_rooms() const;
  // After that, once: makes memory for slices that do not land, and lets the wire know of the plan: from then on
  // whoever polls it calls the sink. Returned is how many bytes there are for slices, in and out.
  std::uint64_t enter();

  // The record of this edge goes to its receiver, who will join it. If that one is lost, the plan fails.
  void await_join(std::uint32_t out) { wire_.watch(out_[out].peer->rank, *this); }
  // The sender's `out` of its plan with this number leads here. Tells it so.
  void join(std::uint32_t in, std::int32_t sink, std::uint32_t out);

  void begin_in(std::uint64_t k, std::uint32_t in, std::byte* address, Counts& counts);
  // After all of these: whoever has to know is told.
  void tell_ready(std::uint64_t k, Counts& counts);
  // As those of OutEdge.
  bool begin_out(std::uint64_t k, std::uint32_t out, std::byte* address, Counts& counts);
  bool advance(std::uint64_t k, std::uint32_t out, Counts& counts);
  bool news(std::uint64_t k, std::uint32_t out) const;
  // Is the payload of k in the elements?
  bool here(std::uint64_t k, std::uint32_t in) const { return in_[in].taken.load(std::memory_order_acquire) >= k; }

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // After a failure: no elements are touched any more when it returns. True: all neighbours that are left know.
  bool give_up();

 private:
  static constexpr std::int32_t kNone = -1;
  struct Peer {
    std::int32_t rank = 0;
    std::atomic<std::int32_t> sink{kNone};  // its number there; known once an edge is joined. Relaxed
    bool tell = false;                      // ready frames
    bool told = false;                      // that this plan has failed
    std::uint64_t most_room = 0;            // bytes of `room`, where no edge from there lands
    std::vector<std::byte> room;  // of the slice that comes from there, where it is to be unpacked and has not landed
    std::atomic<std::uint64_t> ready{0};  // the latest that has come; by the sink, release
    std::atomic<bool> lost{false};        // likewise
  };
  struct Out {
    // Constant.
    Peer* peer = nullptr;
    std::uint64_t bytes = 0;
    // By the sink, before `open` (release); constant then.
    std::int32_t sink = 0;  // the receiver's
    std::uint32_t in = 0;
    bool asks = false;
    bool credit = false;
    std::atomic<bool> open{false};
    std::atomic<bool> left{true};   // the last put; by the plan before it, by the sink after, release
    std::atomic<bool> held{false};  // the present payload may not go yet; by the plan, relaxed
    // The plan's.
    Elements source;
    std::uint64_t at = 0;
    std::vector<std::byte> packed;  // the slice under way, of elements with holes
  };
  struct In {
    // Constant once it is joined.
    Peer* peer = nullptr;
    std::uint64_t bytes = 0;
    std::byte* bounce = nullptr;
    std::uint64_t bounce_bytes = 0;
    bool one_way = false;
    // Under the lock.
    Elements target;
    std::uint64_t begun = 0;
    std::uint64_t came = 0;               // exchanges whose payload is here, whole
    std::uint64_t at = 0;                 // bytes of the next one
    bool unpacks = false;                 // the slice under way is not read straight into the elements
    std::atomic<std::uint64_t> taken{0};  // exchanges whose payload is in the elements
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
  // Complete, and but for what is said there constant, when the wire knows of the plan: it calls from other threads.
  std::deque<Peer> peers_;
  std::deque<Out> out_;
  std::deque<In> in_;
  std::int32_t number_ = kNone;  // by enter()
  std::mutex lock_;
  std::atomic<bool> failed_{false};
};

}  // namespace urakata::halo
