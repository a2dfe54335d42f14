// SPDX-License-Identifier: BSD-3-Clause
// An offload: what a communicator's small collectives need that eBPF code at the nodes' interfaces computes (frame.h):
// a slot in this user's table, and a socket to send from.
//
// An operation begins with what this rank gives: it is put into its row, and sent to each rank that needs it, directly,
// in one call. From then on the owner has nothing to do: eBPF code on each node takes in what comes, whether the rank
// there has begun the operation or not, and computes the result in the order of ranks, the same on all of them. Whoever
// waits reads one word.
//
// Reliability. Frames may be lost. A rank that waits asks those that it lacks again, after a while; eBPF code answers
// for a rank that computes or has gone on. A cell is used again when its result has been taken and all who need this
// rank's row have it: they say so in their later frames, or are asked. Until then later operations wait in a queue. Who
// has left the communicator has all that it needed: that it has is for the owner to find out (engine/kernel.hpp), since
// its eBPF code answers no more.
//
// Failure. Ranks that disagree about the form of an operation get an error. Where a node that others wait for does not
// answer for the timeout, or eBPF code is taken away, the offload is broken: all that has not ended fails, as does all
// that comes later. That a process has ended on a node that lives is seen by others (engine/kernel.cpp).
//
// Parts: cells.hpp has rows and results, begun_operations.hpp the queue, retransmission.hpp what is asked for again,
// frame_sender.hpp the frames.
//
// Thread-safety: by one thread at a time, who owns the engine's domain, but for can_progress(), in_flight() and broken().
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "xdp/begun_operations.hpp"
#include "xdp/cells.hpp"
#include "xdp/frame_sender.hpp"
#include "xdp/retransmission.hpp"
#include "xdp/table.hpp"

namespace urakata::xdp {

class Offload {
 public:
  struct Done {
    void* whose = nullptr;
    bool failed = false;
  };
  using Work = xdp::Work;

  // `other`: an address of another of the ranks; frames go over the interface that leads there. Error: why there can be
  // no offload.
  static Result<std::unique_ptr<Offload>> open(const sockaddr_in& other, std::uint64_t timeout_ns);
  // The same with a slot of this table and a socket at `own`, whose port does not matter.
  static Result<std::unique_ptr<Offload>> over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint64_t timeout_ns);
  ~Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  const Side& side() const { return frames_.side(); }
  // From here on frames are taken. `sides`: by rank of the group, at most URA_XDP_RANKS. `token`: secret, the same on
  // all ranks, not 0.
  void join(std::vector<Side> sides, std::uint32_t rank, std::uint64_t token);
  // Once all have joined: do all others' nodes answer? The error names one that does not, within a fifth of a second.
  Status greet();
  std::uint32_t most() const { return most_; }  // bytes of a row between these ranks
  // Are the same operations of programs' own attached at all of these ranks' interfaces? Where not none can be used.
  bool same_ops() const { return same_ops_; }
  // The form's operation for one that is attached under this name, for elements of so many bytes.
  std::optional<std::uint32_t> op_named(std::string_view name, std::uint64_t element) const;

  // Begins an operation of at most most() bytes. `give`: what this rank gives, free again when this returns; `take`:
  // where its result goes; each may be nullptr where there is nothing. False: the offload is broken.
  bool start(const Work& work, const std::byte* give, std::byte* take, void* whose);
  // Appends the operations that have ended, and asks for what is missing.
  void reap(std::vector<Done>& done);
  void discard();
  // The ranks that the oldest operation waits for, as bits: their rows are missing, or they may need an earlier one of
  // this rank's, whose cell it is to have.
  std::uint32_t waits_for() const;
  // These ranks, as bits, have left the communicator.
  void note_left(std::uint32_t ranks) { cells_.note_left(ranks); }
  // Before the offload goes, with nothing in flight: have all who need it what this rank gave? Where not they are asked
  // from time to time.
  bool all_have_it();

  bool runs(const void* whose) const { return begun_.has(whose); }
  std::size_t in_flight() const { return begun_.in_flight(); }
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  // May something have ended that was not reaped?
  bool can_progress() const { return broken() || begun_.can_progress(); }

  const FrameSender::Counts& counts() const { return frames_.counts(); }

 private:
  // `most`: bytes of a row that the interface carries.
  static Result<std::unique_ptr<Offload>> over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint32_t most, std::uint64_t timeout_ns);
  Offload(std::shared_ptr<Table> table, ura_xdp_slot& slot, int socket, const Side& own, std::uint64_t timeout_ns)
      : table_(std::move(table)),
        slot_(slot),
        cells_(slot),
        frames_(slot, cells_, socket, own),
        begun_(cells_),
        retransmission_(cells_, frames_, timeout_ns) {}

  void give(BegunOperation& operation, const std::byte* from);
  void give_waiting();
  void free_cells();

  const std::shared_ptr<Table> table_;
  ura_xdp_slot& slot_;
  Cells cells_;
  FrameSender frames_;
  BegunOperations begun_;
  Retransmission retransmission_;
  std::uint32_t most_ = 0;  // constant after join(), as is the next
  bool same_ops_ = false;
  std::uint64_t next_check_ns_ = 0;  // whether eBPF code is there
  std::atomic<bool> broken_{false};
};

}  // namespace urakata::xdp
