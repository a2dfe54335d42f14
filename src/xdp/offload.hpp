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
// Thread-safety: by one thread at a time, who owns the engine's domain, but for readiness(), in_flight() and broken().
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "reduce/reducer.hpp"
#include "xdp/table.hpp"

namespace urakata::xdp {

// What a rank tells the others of its side.
struct Side {
  sockaddr_in address{};
  std::uint16_t user = 0;
  std::uint16_t slot = 0;
  std::uint32_t most = 0;  // bytes of a row that its interface carries
  ura_xdp_ops ops{};       // that are attached there
};

class Offload {
 public:
  struct Done {
    void* whose = nullptr;
    bool failed = false;
  };
  struct Work {
    std::uint32_t form = 0;                    // URA_XDP_FORM
    const reduce::Reducer* reducer = nullptr;  // of the form's operation and type; lives until the operation has ended;
                                               // nullptr: nothing is reduced
  };

  // `other`: an address of another of the ranks; frames go over the interface that leads there. Error: why there can be
  // no offload.
  static Result<std::unique_ptr<Offload>> open(const sockaddr_in& other, std::uint64_t timeout_ns);
  // The same with a slot of this table and a socket at `own`, whose port does not matter.
  static Result<std::unique_ptr<Offload>> over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint64_t timeout_ns);
  ~Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  const Side& side() const { return own_; }
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
  void note_left(std::uint32_t ranks) { left_ |= ranks; }
  // Before the offload goes, with nothing in flight: have all who need it what this rank gave? Where not they are asked
  // from time to time.
  bool all_have_it();

  bool runs(const void* whose) const;
  std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  // May something have ended that was not reaped?
  bool readiness() const;

  struct Counts {
    std::uint64_t frames = 0;     // sent in all
    std::uint64_t requests = 0;   // for what was missing
    std::uint64_t questions = 0;  // whether others have what this rank gave
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Operation {
    std::uint32_t number = 0;
    Work work = {};
    std::byte* take = nullptr;
    void* whose = nullptr;
    bool given = false;
    std::vector<std::byte> waiting = {};  // what it gives, until there is a cell
  };

  static std::uint32_t bit(std::uint32_t rank) { return 1U << rank; }

  Offload(std::shared_ptr<Table> table, ura_xdp_slot& slot, int socket, std::uint64_t timeout_ns)
      : table_(std::move(table)), slot_(slot), socket_(socket), timeout_ns_(timeout_ns) {}

  ura_xdp_cell& cell_of(std::uint32_t number) { return slot_.cells[number & (URA_XDP_CELLS - 1)]; }
  const ura_xdp_cell& cell_of(std::uint32_t number) const { return slot_.cells[number & (URA_XDP_CELLS - 1)]; }
  bool has_cell(std::uint32_t number) const;
  void give(Operation& operation, const std::byte* from);
  bool agreed(const ura_xdp_cell& cell, std::uint32_t form) const;
  void compute(ura_xdp_cell& cell, std::uint32_t number, const Work& work);
  bool ended(const Operation& operation) const;
  void take(const Operation& operation, std::vector<Done>& done);
  std::uint32_t receivers(std::uint32_t form) const;
  std::uint32_t lacking(std::uint32_t number, std::uint32_t form) const;
  std::uint32_t missing(const Operation& operation) const;
  void free_cells();
  void send(std::uint32_t to, ura_xdp_kind kind, std::uint32_t number, std::uint32_t form);
  void note_awaited();
  void ask_again(std::uint64_t now);
  bool hears(std::uint32_t other, std::uint64_t now);
  void ask_whether(std::uint64_t now);
  bool ebpf_is_there();

  const std::shared_ptr<Table> table_;
  ura_xdp_slot& slot_;
  const int socket_;
  const std::uint64_t timeout_ns_;
  Side own_;
  std::vector<Side> sides_;
  std::vector<std::uint64_t> heard_ns_;  // of each rank: when its node answered last, or waiting for it began
  std::uint32_t rank_ = 0;
  std::uint32_t most_ = 0;
  std::uint32_t left_ = 0;  // ranks that have left
  bool same_ops_ = false;

  std::uint32_t next_ = 0;                           // number of the next operation
  std::uint32_t finished_ = 0;                       // all before it have ended here
  std::uint32_t oldest_ = 0;                         // whose cell is not free yet
  std::deque<Operation> begun_;                      // not ended, in order; those at the end may have no cell yet
  std::uint32_t forms_[URA_XDP_CELLS] = {};          // of the operations that have cells
  std::uint32_t asked_ = 0;                          // the latest whose receivers were asked ahead
  std::uint64_t wait_ns_ = 0, ask_at_ns_ = 0;        // for what is missing
  std::uint64_t free_wait_ns_ = 0, free_at_ns_ = 0;  // for cells
  std::uint64_t next_check_ns_ = 0;                  // whether eBPF code is there
  Counts counts_;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<bool> broken_{false};
  // For readiness(): the number of the oldest that has not ended, kNothing, or kEnded.
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  static constexpr std::uint64_t kEnded = kNothing - 1;
  std::atomic<std::uint64_t> awaited_{kNothing};
};

}  // namespace urakata::xdp
