// SPDX-License-Identifier: BSD-3-Clause
// An offload: what one communicator needs for the small collectives that eBPF code at the nodes' interfaces computes
// (frame.h): a slot in this user's table, and a UDP socket to send from.
//
// start() puts this rank's input into its row, and sends it to each rank that needs it, with one system call for each.
// From then on this rank has nothing to do. eBPF code on each node receives the inputs, whether the rank there has
// begun the operation or not. It computes the result in the order of ranks, so that all ranks have the same one. A
// thread that waits reads one word.
//
// Reliability. Frames may be lost. A rank that waits asks again, after a while, for the rows that it lacks. eBPF code
// answers for ranks that compute or are in later operations. A cell is reused when its result has been taken and all
// ranks that need this rank's row have it. They say so in later frames, or are asked. Until then later operations wait
// in a queue. A rank that has left the communicator has all that it needed, but eBPF code no longer answers for it. So
// the owner of the offload finds out which ranks have left (engine/kernel.hpp), and calls note_left().
//
// Failure. If ranks disagree about the form of an operation, the operation fails. If a node that this rank waits for
// does not answer for the timeout, or if eBPF code is detached, the offload breaks: all operations that have not ended
// fail, and no further one can begin. If a process dies while its node answers, the channel set's connections tell the
// other ranks (engine/kernel.cpp).
//
// Parts: cells.hpp has rows and results, begun_operations.hpp the queue, retransmission.hpp what is asked for again,
// frame_sender.hpp the frames.
//
// Thread-safety: can_progress(), in_flight() and broken() by any thread; all else by one thread at a time.
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
    void* whose = nullptr;  // as start() was given it
    bool failed = false;
  };
  using Work = xdp::Work;

  // `other`: the address of another rank's node; frames leave by the interface that leads there. `timeout_ns`: time
  // after which a node that does not answer is lost. Error: why there can be no offload.
  static Result<std::unique_ptr<Offload>> open(const sockaddr_in& other, std::uint64_t timeout_ns);
  // An offload with a slot of this table, and a socket that is bound to `own` (port 0: any port).
  static Result<std::unique_ptr<Offload>> over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint64_t timeout_ns);
  ~Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  const Side& side() const { return frames_.side(); }
  // Joins the offload to the group. From now on the slot takes frames. `sides`: by rank of the group, at most
  // URA_XDP_RANKS. `token`: a secret, the same on all ranks, not 0.
  void join(std::vector<Side> sides, std::uint32_t rank, std::uint64_t token);
  // To be called once all ranks have joined. Error: names a rank whose node has not answered in a fifth of a second.
  Status greet();
  std::uint32_t most() const { return most_; }  // most bytes of a row between these ranks
  // Whether the same operations of programs' own are attached at the interfaces of all ranks. If not, none can be used.
  bool same_ops() const { return same_ops_; }
  // The value for URA_XDP_FORM of the operation of this name, for elements of so many bytes; nullopt: none can be used.
  std::optional<std::uint32_t> op_named(std::string_view name, std::uint64_t element) const;

  // Starts an operation of at most most() bytes. `give`: this rank's input, which is copied. `take`: where the result
  // goes, in use until reap() reports the operation. Either is nullptr if the rank has none. False: the offload is
  // broken, and nothing was started.
  bool start(const Work& work, const std::byte* give, std::byte* take, void* whose);
  // Appends the operations that have ended, each once. Asks for rows that are missing, and finds out whether nodes
  // answer and eBPF code is attached.
  void reap(std::vector<Done>& done);
  // Breaks the offload. The next reap() reports all operations in flight as failed.
  void discard();
  // The ranks that the oldest operation waits for, as bits: those whose rows are missing; while it has no cell, those
  // for which the cell is kept.
  std::uint32_t waits_for() const;
  // Notes that these ranks (bits) have left the communicator.
  void note_left(std::uint32_t ranks) { cells_.note_left(ranks); }
  // To be called before the offload is destroyed, with nothing in flight, until it returns true: all ranks that need
  // this rank's inputs have them, or the offload is broken. Asks the ranks from time to time.
  bool all_have_it();

  bool runs(const void* whose) const { return begun_.has(whose); }
  std::size_t in_flight() const { return begun_.in_flight(); }
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  // Whether reap() may find operations that have ended.
  bool can_progress() const { return broken() || begun_.can_progress(); }

  const FrameSender::Counts& counts() const { return frames_.counts(); }

 private:
  // `most`: most bytes of a row that the interface carries.
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
  std::uint32_t most_ = 0;           // constant after join()
  bool same_ops_ = false;            // constant after join()
  std::uint64_t next_check_ns_ = 0;  // when to check next whether eBPF code is attached
  std::atomic<bool> broken_{false};
};

}  // namespace urakata::xdp
