// SPDX-License-Identifier: BSD-3-Clause
// Transport `stripes`: messages between sites, and long ones inside one (wire_link.hpp), each cut into pieces that use
// several connections at once.
//
// One TCP connection does not fill a long link: its window, its share, or a limit on each flow holds it back. So a pair
// of ranks at different sites has several connections in each direction. Each is a *stripe* of this file; src/lanes/
// uses the word for a pair of site leaders. A piece carries the number of its message and its offset. It goes to the
// free stripe with the fewest unacknowledged bytes, and no stripe holds more than its share of the bytes that remain.
// The receiver reads a piece straight into its place. So stripes may differ in speed, and one may be lost.
//
//   stripe_piece  tag; id: 44 bits of offset in the message, 20 of its number; payload
//   stripe_end    the same of the piece with which the message ends
//   stripe_ack    number of pieces of this connection that have arrived, in place or in memory of ours
//   clear_to_send     the receive of message `id` (20 bits) of `tag` has been posted
//   notice      as by wire
//
// Messages of one peer and tag match by number: the k-th send and the k-th receive. The first kPush bytes of a message
// go without asking, since a question takes a round trip. Pieces that arrive before their receive are kept here. The
// rest of a longer message waits for clear_to_send. A receive that is filled before the last piece has come, or has no
// room for a piece, ends with an error.
//
// A send completes when the kernel has taken all of it. The unacknowledged tail is copied. If the tail is longer than
// kMostKept, the send completes when enough of it has been acknowledged. Until the whole message has been acknowledged,
// its rank has a reason to poll.
//
// A stripe is given up if it breaks, or if its other end acknowledges nothing while other stripes of the pair go on.
// Its pieces go over the other stripes. Pieces that arrive twice are discarded. A piece may be arriving in a buffer
// while its twin ends the message; the rest of that piece is read into other memory. A lost stripe is opened again
// after kAgain. If all stripes are silent, or the only one is, a new one is tried: if it opens, the silent ones are
// given up. The messages of a pair end with an error if no stripe has been heard of for the Wire's timeout, or if the
// peer no longer listens.
//
// If this end gives up a stripe, the peer may not learn of it, for instance if a router has dropped the flow. The peer
// then keeps a connection on which nothing arrives. It finds out because nothing that it sends there is acknowledged.
// A clear_to_send may have been lost on such a stripe. So every tick repeats clear_to_send on all stripes until a piece
// from behind the first kPush bytes has come.
//
// Notices go by all stripes and by wire. Stripes are open already. If a stripe has nothing under way, the kernel has
// the notice when a failed call returns, even if its rank never calls again. A stripe within a piece, or a wire
// connection that is not open yet, sends the notice only in a later call.
//
// The Wire's listener and secret make the connections, at a pair's first message, and as many as its backlog keeps
// busy. No SO_RCVBUF or SO_SNDBUF is set, so the kernel sizes the windows. Little is left unsent in the kernel
// (TCP_NOTSENT_LOWAT): a piece given to a slow stripe could not move to a fast one.
//
// A connection that is new, or was idle, sends kFirstFlight at once and then waits for a round trip. So what fits into
// the first flights of all stripes is sent in them. There may be more stripes than the link needs: those beyond that
// number never have more than a first flight under way.
//
// The number of stripes of a pair follows from the link between the two sites, for pairs of nodes. A message may say
// how many suit it (Message::streams), since an operation of few pairs takes more of each. A rank that receives from
// n peers when it sends takes part in an exchange of all with all: each peer then gets an n-th of the stripes.
//
// Parts, all used under the lock of Stripes alone: a stripe (stripe.hpp), all that is known of a peer
// (stripe_peer.hpp), which stripes there are (stripe_pool.hpp), sending (stripe_sender.hpp), receiving
// (stripe_receiver.hpp), frames (stripe_frames.hpp), silence (stripe_watch.hpp), and how fast sites were sent to
// (busy_periods.hpp).
//
// Thread-safety: any thread, under a lock of this object; the Wire's lock may be taken inside it. A port belongs to its
// domain, so one thread at a time uses it. No call blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "transport/failures.hpp"
#include "transport/stripes/busy_periods.hpp"
#include "transport/stripes/completion_queue.hpp"
#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_frames.hpp"
#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_pool.hpp"
#include "transport/stripes/stripe_receiver.hpp"
#include "transport/stripes/stripe_sender.hpp"
#include "transport/stripes/stripe_sizes.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/stripes/stripe_watch.hpp"
#include "transport/stripes/stripes_settings.hpp"
#include "transport/transport.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class StripesPort;

class Stripes final {
 public:
  static constexpr std::uint64_t kPush = StripeSizes::kPush;
  static constexpr std::uint64_t kLeastPiece = StripeSizes::kLeastPiece;
  static constexpr std::uint64_t kPacket = StripeSizes::kPacket;
  static constexpr std::uint64_t kFirstFlight = StripeSizes::kFirstFlight;

  using Settings = StripesSettings;
  using Traffic = StripeTraffic;
  using Increase = StripeIncrease;
  using Packets = StripePackets;
  using Busiest = BusyPeriod;

  static Result<std::unique_ptr<Stripes>> open(Wire& wire, Failures& failures, const Settings& settings);
  ~Stripes();
  Stripes(const Stripes&) = delete;
  Stripes& operator=(const Stripes&) = delete;

  // How many stripes a pair has from now on. Stripes that there are stay, but no more than so many are used.
  void set_streams(std::uint32_t streams);
  // Sets how many stripes the pair with a rank at another site has: `streams`, and `most` with those that only carry
  // first flights.
  void set_streams(std::int32_t rank, std::uint32_t streams, std::uint32_t most);
  // The rank is at this site: its stripes are no part of those between sites.
  void note_near(std::int32_t rank);
  // To a rank at this site so many, from now on. False: they are not all there yet.
  bool prepare(std::int32_t rank, std::uint32_t streams);
  // Closes the connections to peers with which nothing is under way; messages to come make others, whose windows
  // nothing has cut yet. Both ends of a pair do so between the same messages, and none is sent before both have.
  void close_idle();
  // Whether any message that this rank sends has not been acknowledged in full.
  bool sending();
  // Whether sending(), or a peer may send pieces again since an acknowledgement of this rank may not have arrived.
  bool flushing();
  // Moves on what is under way. True: all that was sent has been acknowledged, or cannot be any more.
  bool settled();
  int descriptor() const { return epoll_; }  // readable while there is something to do here

  // What has gone to each rank, or to one.
  std::map<std::int32_t, Traffic> traffic();
  Traffic traffic(std::int32_t rank);
  // What the stripes to a rank have carried since it was asked last.
  Increase carried_since(std::int32_t rank);
  // TCP's packets to a rank.
  Packets packets(std::int32_t rank);

  // sites[rank]; `least`: bytes that go at a time to one of them, by which busy periods are judged.
  void note_sites(std::span<const std::int32_t> sites, std::uint64_t least);
  // The period in which most went to a site in its time.
  Busiest busiest(std::int32_t site);

 private:
  friend class StripesPort;

  Stripes(Wire& wire, Failures& failures, const Settings& settings);

  // For ports.
  bool send(const Message& message, const Waiter& waiter);
  bool recv(const Message& message, const Waiter& waiter, int* error);
  void poll(CompletionQueue& queue, std::vector<Completion>& reported);
  std::size_t cancel(const void* instance);
  std::uint64_t moved(const Ticket& ticket, std::int32_t peer, bool send);
  void tell(std::int32_t rank, const Notice& notice);
  void put(const Waiter& waiter, int error);
  const Failures& failures() const { return failures_; }

  void progress() URAKATA_REQUIRES(lock_);

  // Constant once open() has ended.
  Wire& wire_;
  Failures& failures_;
  const Settings settings_;
  const int epoll_;

  // Under the lock, by anyone.
  Mutex lock_;
  StripePeers peers_ URAKATA_GUARDED_BY(lock_);
  StripeCounts counts_ URAKATA_GUARDED_BY(lock_);
  BusyPeriods periods_ URAKATA_GUARDED_BY(lock_);
  StripePool pool_ URAKATA_GUARDED_BY(lock_);
  StripeSender sender_ URAKATA_GUARDED_BY(lock_);
  StripeReceiver receiver_ URAKATA_GUARDED_BY(lock_);
  StripeWatch watch_ URAKATA_GUARDED_BY(lock_);
  StripeFrames frames_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::transport
