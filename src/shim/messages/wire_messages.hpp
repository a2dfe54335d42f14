// SPDX-License-Identifier: BSD-3-Clause
// The program's own messages between nodes by transport wire: this process's link, and the progress thread that moves
// it while the program computes.
//
// Two ranks use it where transport wire joins their nodes and both have a link (WIRE_MESSAGES). An endpoint without a
// space is there for its sake alone; messages to other ranks of the node then stay with the MPI library.
//
// Thread-safety: open_link(), start_link_progress() and stop_link_progress() by the thread that calls MPI_Init and
// MPI_Finalize; the rest by any between.
#pragma once

#include <atomic>
#include <cstdint>

#include "messages/message_descriptor.hpp"
#include "p2p/backoff.hpp"
#include "shim/process/space.hpp"
#include "transport/link/link_progress.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::shim {

// Where all ranks are at one site: what carries long messages over several connections. Only where transport wire is
// there. False: there is none.
bool open_link_stripes(transport::Failures& failures);
void close_link_stripes();

struct LinkWish {
  bool progress_thread = false;   // it gets one where the endpoint is
  bool stripes = false;           // all ranks that have a link have stripes
  std::uint32_t connections = 1;  // as WireLink::Settings
};
// Opens link(). Before enter_space(), and only where transport wire is there.
void open_link(const LinkWish& wish);

// Is a progress thread to move it while the program computes? Then the endpoint has many callers.
bool link_has_progress_thread();

// Open MPI that was told of more ranks than cores (mpi_yield_when_idle): its waits give the core away.
bool native_gives_way();

// How the endpoint waits that has the link. `in_space`: ranks of its space may wake it.
void wait_by_link(bool in_space, p2p::BackoffSettings& settings);

// The progress thread; nullptr: there is none.
[[gnu::visibility("hidden")]] extern constinit transport::LinkProgress* link_progress;
void start_link_progress(p2p::Endpoint& endpoint, const transport::LinkProgress::Settings& settings);
void stop_link_progress();

// The rank leaves a request of its endpoint open that may need the link, and goes its way. `bytes`: of the message.
inline void expect_by_link(std::uint64_t bytes) {
  if (link_progress != nullptr) link_progress->expect(bytes > link()->eager_bytes());
}

// Ends the receives that wait for ranks that are lost, and now and then has the connections watched to those that
// receives wait for. To be called in each poll by threads of the program.
void end_receives_of_lost();
[[gnu::visibility("hidden")]] extern constinit std::atomic<unsigned> checks_seen;  // of the link's; relaxed
inline void check_link() {
  if (own_link == nullptr) return;
  if (own_link->lost() != 0 || own_link->checks() != checks_seen.load(std::memory_order_relaxed))
    end_receives_of_lost();
}
// Is the rank lost that a receive or a probe names, or where it names none, one of those that it may come from?
bool lost(const messages::MessageDescriptor& pattern);

// In MPI_Finalize, when all ranks are there: until everything has left.
void flush_link();
// Other ranks' long messages may still need our word that they have come. After flush_link(), again and again until all
// ranks are there. False: there are no stripes, and it need not be called.
bool answer_by_stripes();

}  // namespace urakata::shim
