// An exchange plan: all edges of one rank of one neighbourhood. The protocol of those inside a space is in edge.hpp, that
// of those between nodes in far_edges.hpp; a plan may have both.
//
// Making one
//   1. Each rank makes its plan from its ends, in its own order. Each sending end must be joined with the receiving one:
//      the caller carries record() of the one to join() of the other, by any means that pairs the k-th end from a rank to
//      another with the k-th (an MPI_Neighbor_alltoall of the records does so with neighbours that are named twice, and
//      with the rank itself). An end without bytes that leads to nobody (MPI_PROC_NULL) is not joined.
//   2. A barrier; then fit() tells each sender what join() has told the receiver. Unless all ends of all ranks are
//      Fit::good no exchange may begin, which the caller has all ranks agree on.
// Ends of one rank to the same other one of the space share an edge if they have less than Costs::shared_most bytes in all:
// a neighbour at both sides of a periodic dimension, or many neighbours that few ranks are. They come together. With more
// bytes each has its own.
// A plan stays where it is. Its layouts outlive it, may be read by all ranks, and are known in canonical form.
//
// Using it. begin() starts the rank's next exchange; all ranks begin the same exchanges. Of an exchange under way the
// elements are not touched by the program: received ones until ready() or ready_any() has told of that end, sent ones
// until complete(). The next begins when the one before is complete() at this rank; the neighbours' may still be under
// way. Plans are independent, and any number of them may be under way. While a rank waits for anything, it makes
// progress() of all its plans: a neighbour may need it.
//
// What it costs: begin() and what moves on after it allocate nothing, take no lock, never wait, and make no system call
// but to wake a neighbour that sleeps. Per edge: six lines of memory at the sender, four at the receiver, and what
// Landing counts.
//
// A neighbour that dies: inside a space its payloads do not come, and the end of the space's job is what ends the waiting.
// Where one on another node is lost, or says that its plan has failed, this plan has failed(): the exchange under way is
// complete() with the elements in any state once progress() has told the neighbours, and all later ones at once.
//
// Ending it. Neighbours write to the plan until they have completed their last exchange. retire() says that this rank is
// done; the memory is given back when released() says that all neighbours have retired theirs. No message is needed,
// nor a barrier; a caller that has had one may do without both.
//
// Thread-safety: by one thread at a time; failed() by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halo/channel.hpp"
#include "halo/counts.hpp"
#include "p2p/backoff.hpp"
#include "p2p/pieces.hpp"

namespace urakata::transport {
class PutWire;
}

namespace urakata::halo {

class FarChannels;

// What a rank sends to another one, or receives from it, in one place of the neighbourhood.
struct ChannelEnd {
  std::uint32_t peer;          // the other rank, by a number that this rank uses for no other
  std::ptrdiff_t offset;       // bytes from the address that begin() is given to that of the elements
  std::uint64_t count;         // elements
  const layout::Shape* shape;  // nullptr: plain bytes
  std::int32_t far = kNear;    // the other rank's number for the wire, where it shares no memory with this one

  static constexpr std::int32_t kNear = -1;
};

// What to do with payloads of which size, at the receiver of an edge. Ranks may differ, but in shared_most.
//
// What counts is a program's whole iteration, in which it writes what it sends and reads what has come. A line that another
// core has read in place is dear to write again, most of all a few bytes at a time, and that the program pays outside of the
// exchange. Measured so (tests/halo/bench_test.cpp, EPYC, two ranks on cores apart), landing by ordinary stores takes, of the
// time that
//                            4 KiB   8 KiB   32 KiB  256 KiB
//     the receiver pulls     0.5     0.7     0.8     0.6 to 1.2    blocks of 64 B and more
//                            0.3     0.3     0.24    0.24          blocks of 8 B
//     direct puts take       1       1       0.9     0.5 to 1
//                            1       0.7     0.45    0.21
// and on two threads of one core 0.9 to 1.2 for long blocks. (An exchange alone, from start to wait, takes 0.4 of the time
// where 32 KiB are pulled.) On Granite Rapids landing takes 0.8 to 0.9 of direct puts. To have nobody pull and both copy
// takes as long as to pull. By p2p::pack_across() landing takes 0.7 of that again.
struct Costs {
  std::uint64_t pull_least = 64 << 10;    // bytes from which payloads of a symmetric relation are pulled
  std::uint64_t bounce_most = 64 << 10;   // bytes up to which an edge has landing places, where it is not pulled
  std::uint64_t direct_least = 64 << 10;  // bytes from which an edge with landing places has ready marks as well
  // Where the receiver's blocks are shorter than a line at the mean: up to here such an edge has landing places and is
  // neither pulled nor put to directly.
  std::uint64_t short_bounce_most = 1 << 20;
  // Bytes below which ends between the same two ranks share an edge. For each mark that is saved two ranks pay tenths of a
  // microsecond less, which is lost in so many bytes of copying. Where ranks differ there is no plan.
  std::uint64_t shared_most = 64 << 10;
  std::uint64_t bounce_budget = 16 << 20;  // of Landing::bytes
  p2p::PieceSizes pieces = {};             // of a rendezvous where both copy
  // The same as landing_most for edges between nodes. To ask takes half a round trip, in which 512 KiB can be copied out
  // of a landing place (25 us over the networks that transport wire is for, 20 GB/s and less); and who is there in time
  // has no copy.
  std::uint64_t far_bounce_most = 512 << 10;

  bool operator==(const Costs&) const = default;
};

// What a plan has for payloads whose receiver is not there yet, and what it takes.
struct BounceBuffers {
  // Landing places, and room for slices of elements with holes that go to other nodes or come from there. Of the latter
  // there is as much as is needed, and landing places get what is left of the budget.
  std::uint64_t bytes = 0;
  std::uint64_t budget = 0;
  // Receiving ends that have no landing place, but for those that need none; of these, those for want of budget.
  std::uint64_t without = 0;
  std::uint64_t refused = 0;
};

// What travels from each sending end to join it. Plain data.
struct Record {
  OutChannel* channel = nullptr;  // in the space only; nullptr: there is no plan
  std::uint64_t bytes = 0;
  std::int32_t sink = 0;  // between nodes: number of the sender's, and of the edge there
  std::uint32_t out = 0;
  std::uint32_t segment = 0;  // of the edge in the space
};

class NeighbourhoodChannel {
 public:
  // `wire`: outlives it; nullptr where no end is far.
  NeighbourhoodChannel(p2p::Port& port, std::span<const ChannelEnd> out, std::span<const ChannelEnd> in,
                       const Costs& costs = {}, transport::PutWire* wire = nullptr);
  NeighbourhoodChannel(const NeighbourhoodChannel&) = delete;
  NeighbourhoodChannel& operator=(const NeighbourhoodChannel&) = delete;
  ~NeighbourhoodChannel();

  Record record(std::size_t out);
  Fit join(std::size_t in, const Record& record);
  Fit fit(std::size_t out) const;  // of an end that is not far

  // `from` and `to`: what the ends' offsets count from; may differ from exchange to exchange.
  void begin(const std::byte* from, std::byte* to);

  // Moves everything on that can move without waiting. Returns whether anything moved.
  bool progress();
  // Would it? Takes nothing, stores nothing.
  bool news() const;
  bool complete() const { return waiting_.empty() && leaving_.empty(); }
  bool failed() const;
  // Has it edges with bytes from or to this space, the rank itself among it? And between nodes?
  bool any_near() const { return near_; }
  bool any_far() const { return far_ != nullptr; }
  // Bytes of the longest payload to or from another node; 0: there is none.
  std::uint64_t longest_far() const { return longest_far_; }
  // How many receiving ends with bytes are of which kind.
  std::size_t from_near() const { return sources_ - from_far(); }
  std::size_t from_far() const;
  // Returns when the exchange is complete. For a rank that has nothing else to move on but by `settings`.
  void wait(const p2p::BackoffSettings& settings);

  // Is the payload of this end here? Makes progress if not.
  bool ready(std::size_t in);
  // An end whose payload is here and that this has not told of in this exchange, in the order of their coming; none:
  // all were told, or the next is not here yet, after progress.
  std::optional<std::size_t> ready_any();

  void retire();
  bool released() const;

  const Counts& counts() const { return counts_; }
  const BounceBuffers& bounce_buffers() const { return bounce_buffers_; }

 private:
  static constexpr std::uint32_t kNear = UINT32_MAX;

  void assign_bounce_buffers(const Costs& costs);
  bool far_in(std::uint32_t in) const { return far_ != nullptr && in_number_[in] != kNear; }
  bool far_out(std::uint32_t out) const { return far_ != nullptr && out_number_[out] != kNear; }
  bool take(std::uint32_t in);
  void arrived(std::uint32_t in) { arrived_.insert(arrived_.end(), ends_[in].begin(), ends_[in].end()); }
  bool advance(std::uint32_t out, bool late);
  bool told_of_failure();
  void end_failed();

  // Where an end lies.
  struct Place {
    std::uint32_t channel = 0;
    std::uint32_t segment = 0;
  };
  struct Places {
    std::vector<Place> of;  // each end
    std::uint32_t channels = 0;
  };
  static Places places_of(std::span<const ChannelEnd> ends, std::uint64_t shared_most);

  p2p::Port& port_;
  const Places out_places_;
  const Places in_places_;
  std::vector<OutChannel> out_;
  std::vector<InChannel> in_;
  std::vector<Segment> given_;                    // by receiving end
  std::vector<std::vector<std::uint32_t>> ends_;  // by receiving edge
  // Of the edges between nodes, which take these two's bytes and offsets only: their numbers in far_, or kNear.
  std::vector<std::uint32_t> out_number_;
  std::vector<std::uint32_t> in_number_;
  std::vector<bool> from_far_;        // by receiving edge, also of those without bytes
  std::unique_ptr<FarChannels> far_;  // nullptr: there are none
  struct alignas(kLine) Line {
    std::byte bytes[kLine];
  };
  std::unique_ptr<Line[]> bounce_memory_;
  BounceBuffers bounce_buffers_;
  // Edges with bytes, and receiving ends without. Constant.
  std::vector<std::uint32_t> sending_;
  std::vector<std::uint32_t> receiving_;
  std::vector<std::uint32_t> empty_;
  std::size_t sources_ = 0;  // receiving ends with bytes

  std::uint64_t exchange_ = 0;
  std::uint64_t longest_far_ = 0;
  bool near_ = false;
  std::atomic<bool> failed_{false};  // by the plan's thread, relaxed; others may ask
  unsigned in_vain_ = 0;             // calls of progress() in the present exchange that moved nothing
  // Of the present exchange; with room for all edges.
  std::vector<std::uint32_t> waiting_;  // receiving edges whose payload is not here
  std::vector<std::uint32_t> leaving_;  // sending edges whose payload has not left
  std::vector<std::uint32_t> arrived_;  // receiving ends in the order of their coming
  std::size_t told_ = 0;                // of arrived_
  Counts counts_;
};

}  // namespace urakata::halo
