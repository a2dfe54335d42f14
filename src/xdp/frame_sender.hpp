// SPDX-License-Identifier: BSD-3-Clause
// The frames that a rank's offload sends to the others' interfaces, and what their answers and its socket show.
//
// Thread-safety: by the thread that owns the offload. eBPF code on other cores notes answers in the slot at the same
// time: what it shares is accessed atomically.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <vector>

#include "xdp/cells.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

// What a rank tells the others of its side.
struct Side {
  sockaddr_in address{};
  std::uint16_t user = 0;
  std::uint16_t slot = 0;
  std::uint32_t most = 0;  // bytes of a row that its interface carries
  ura_xdp_ops ops{};       // that are attached there
};

class FrameSender {
 public:
  // `cells`: of the same slot. The socket is the sender's from now on.
  FrameSender(ura_xdp_slot& slot, const Cells& cells, int socket, const Side& own)
      : slot_(slot), cells_(cells), socket_(socket), own_(own) {}
  ~FrameSender();
  FrameSender(const FrameSender&) = delete;
  FrameSender& operator=(const FrameSender&) = delete;

  const Side& side() const { return own_; }
  // `sides`: by rank of the group; see Offload::join().
  void join(std::vector<Side> sides);

  // One frame, to a rank of the group; of an operation that has a cell, or without one. A frame may be lost.
  void send(std::uint32_t to, ura_xdp_kind kind, std::uint32_t number, std::uint32_t form);
  void ping(std::uint32_t to) { send(to, URA_XDP_PING, 0, 0); }

  // The ranks whose nodes have answered, as bits, since has_answered() last asked for each.
  std::uint32_t answered() const {
    return static_cast<std::uint32_t>(__atomic_load_n(&slot_.answered, __ATOMIC_RELAXED));
  }
  // Has this rank's node answered since this was last asked?
  bool has_answered(std::uint32_t other);
  // Frames that come up to the socket show that nothing takes them in on the way.
  bool ebpf_is_there();

  struct Counts {
    std::uint64_t frames = 0;     // sent in all
    std::uint64_t requests = 0;   // for what was missing
    std::uint64_t questions = 0;  // whether others have what this rank gave
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
