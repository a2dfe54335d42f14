// SPDX-License-Identifier: BSD-3-Clause
// The program's own messages between nodes by transport wire: this process's link, and the progress thread that moves
// it while the program computes.
//
// Two ranks use the link if transport wire joins their nodes and both have a link (option WIRE_MESSAGES). A rank
// outside a space has an endpoint only for its link; its messages to other ranks of the node then fall back.
//
// Thread-safety: expect_by_link(), end_receives_of_lost(), check_link() and lost() by any thread of the program between
// MPI_Init and MPI_Finalize; the rest by the thread that calls these. stop_link_progress() also by an exit handler.
#pragma once

#include <atomic>
#include <cstdint>

#include "messages/message_descriptor.hpp"
#include "p2p/backoff.hpp"
#include "shim/process/space.hpp"
#include "transport/link/link_progress.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::shim {

// For a job at one site: opens the stripes that carry long messages over several connections. False: this rank has no
// wire, or its stripes cannot be opened.
bool open_link_stripes(transport::Failures& failures);
void close_link_stripes();

struct LinkWish {
  bool progress_thread = false;   // whether the link gets a progress thread
  bool stripes = false;           // whether all ranks that have a link have stripes
  std::uint32_t connections = 1;  // as WireLink::Settings
};
// Opens link(), which stays nullptr on a failure that is logged. Before enter_space(), on a rank that has a wire.
void open_link(const LinkWish& wish);

// Whether a progress thread is to progress the link while the program computes. The endpoint then has several callers.
bool link_has_progress_thread();

// Whether waits in the MPI library yield the core: in Open MPI if it runs with mpi_yield_when_idle.
bool native_gives_way();

// Adapts the settings by which a rank with a link waits. `in_space`: whether ranks of its space may wake it.
void wait_by_link(bool in_space, p2p::BackoffSettings& settings);

// The progress thread; nullptr: there is none.
[[gnu::visibility("hidden")]] extern constinit transport::LinkProgress* link_progress;
void start_link_progress(p2p::Endpoint& endpoint, const transport::LinkProgress::Settings& settings);
void stop_link_progress();

// To be called when the program continues with an open request that may need the link. `bytes`: of the message.
inline void expect_by_link(std::uint64_t bytes) {
  if (link_progress != nullptr) link_progress->expect(bytes > link()->eager_bytes());
}

// Fails the receives that wait for lost ranks, and, once after each of the link's checks, has the link watch the
// connections to ranks that receives wait for. check_link() calls it, and is called in each poll.
void end_receives_of_lost();
[[gnu::visibility("hidden")]] extern constinit std::atomic<unsigned> checks_seen;  // as WireLink::checks(); relaxed
inline void check_link() {
  if (own_link == nullptr) return;
  if (own_link->lost() != 0 || own_link->checks() != checks_seen.load(std::memory_order_relaxed))
    end_receives_of_lost();
}
// Whether the rank that a receive or a probe names is lost, or, from any source, one of those that it may come from.
bool lost(const messages::MessageDescriptor& pattern);

// In MPI_Finalize, when all ranks have entered it: returns when the peers' kernels have acknowledged all that the link
// had to send.
void flush_link();
// Acknowledges other ranks' long messages. To be called after flush_link(), repeatedly until all ranks have flushed
// theirs. False: there are no stripes, and it need not be called.
bool answer_by_stripes();

}  // namespace urakata::shim
