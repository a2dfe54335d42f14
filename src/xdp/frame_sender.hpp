// SPDX-License-Identifier: BSD-3-Clause
// Sends an offload's frames to the interfaces of the other ranks' nodes, and tells what answers and the socket show.
//
// Thread-safety: by the thread that owns the offload. eBPF code on other cores notes answers in the slot at the same
// time. What it shares with this process is accessed atomically.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <vector>

#include "xdp/cells.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

// What a rank tells the other ranks of its side.
struct Side {
  sockaddr_in address{};   // of the rank's socket
  std::uint16_t user = 0;  // number of the rank's user at the interface
  std::uint16_t slot = 0;  // number of the rank's slot in the user's table
  std::uint32_t most = 0;  // most bytes of a row that the interface carries
  ura_xdp_ops ops{};       // operations of programs' own that are attached there
};

class FrameSender {
 public:
  // `cells`: those of the slot. The FrameSender closes the socket at its end.
  FrameSender(ura_xdp_slot& slot, const Cells& cells, int socket, const Side& own)
      : slot_(slot), cells_(cells), socket_(socket), own_(own) {}
  ~FrameSender();
  FrameSender(const FrameSender&) = delete;
  FrameSender& operator=(const FrameSender&) = delete;

  const Side& side() const { return own_; }
  // `sides`: by rank of the group; see Offload::join().
  void join(std::vector<Side> sides);

  // Sends one frame to a rank of the group, which may be lost. For DATA and REQUEST, the operation must have a cell.
  void send(std::uint32_t to, ura_xdp_kind kind, std::uint32_t number, std::uint32_t form);
  void ping(std::uint32_t to) { send(to, URA_XDP_PING, 0, 0); }

  // The ranks whose nodes have answered since has_answered() was last called for them, as bits.
  std::uint32_t answered() const {
    return static_cast<std::uint32_t>(__atomic_load_n(&slot_.answered, __ATOMIC_RELAXED));
  }
  // Whether the node of this rank has answered since this was last called for the rank.
  bool has_answered(std::uint32_t other);
  // Whether eBPF code may still be attached. False: a frame for this slot has reached the socket, so none has taken it.
  bool ebpf_is_there();

  struct Counts {
    std::uint64_t frames = 0;     // all frames sent
    std::uint64_t requests = 0;   // URA_XDP_REQUEST among them
    std::uint64_t questions = 0;  // URA_XDP_ASK among them
  };
  const Counts& counts() const { return counts_; }

 private:
  ura_xdp_slot& slot_;
  const Cells& cells_;
  const int socket_;
  const Side own_;
  std::vector<Side> sides_;  // by rank; constant after join()
  Counts counts_;
};

}  // namespace urakata::xdp
