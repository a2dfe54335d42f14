// SPDX-License-Identifier: BSD-3-Clause
// A transport moves the messages of send and recv nodes. One object serves one progress domain and is used by the
// domain's owner only; no call blocks.
//
// What a transport can do is told by its operations, and by no record of capabilities: most of it differs from peer to
// peer, since Route sends one way by the MPI library and another by wire. So what a transport cannot do, or need not,
// has a default that says so: withdraw(), listening(), flushing(), descriptors(), wakeup().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/link_facts.hpp"
#include "base/socket_watch.hpp"
#include "layout/layout.hpp"
#include "transport/failures.hpp"
#include "transport/progress_count.hpp"

namespace urakata::transport {

struct Message {
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;                 // payload
  const layout::Layout* layout = nullptr;  // of the elements at `address`; nullptr: plain bytes
  std::int32_t peer = 0;                   // rank on the private communicator
  std::int32_t tag = 0;
  Streams streams = {};  // to send it to another site by, at most
};

// Names the node of the instance that posted a message; handed back on completion. Until then a transport that moves a
// payload piece by piece may tell how many bytes have moved. The ticket handed back has the bytes told in total.
struct Ticket {
  void* instance = nullptr;
  std::uint32_t node = 0;
  std::uint32_t iteration = 0;
  ProgressCount* progress = nullptr;  // whom to tell; nullptr: nobody asks
  std::uint64_t told = 0;             // bytes

  // `moved`: bytes of the message that have moved since it was posted, in total.
  void tell(std::uint64_t moved) {
    if (progress == nullptr || moved <= told) return;
    progress->add(moved - told);
    told = moved;
  }
};

struct Completion {
  Ticket ticket;
  int error = 0;  // 0, or the transport's error code
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Post a message. Returns 0, or the transport's error code; after an error poll() does not report the message.
  // Without an error, `*finished` (if `finished` is not null) says whether the message has been sent or received
  // already; poll() then does not report it either.
  virtual int send(const Message& message, Ticket ticket, bool* finished) = 0;
  virtual int recv(const Message& message, Ticket ticket, bool* finished) = 0;

  // Moves the transport on and reports the messages that are finished. The span is valid until the next poll; posting
  // further messages meanwhile is allowed.
  virtual std::span<const Completion> poll() = 0;

  virtual std::size_t in_flight() const = 0;

  // Gives up all messages of `instance`. Returns how many of them were taken back: poll() does not report these, and
  // their memory is free. What cannot be taken back and uses the memory of its message is reported as ever, after a
  // time that the transport bounds.
  virtual std::size_t cancel(const void* instance) = 0;

  // Tells `peer` that what was in progress there on context `notice.context` has failed. What comes for our own context
  // `notice.origin` from now on is thrown away, so nothing may be posted with it any more. Where the peer cannot be
  // told it has an error of its own.
  virtual void tell(std::int32_t peer, const Notice& notice) = 0;
  // A send from `own` to `peer` that was given up may wait for its receive: the peer is to throw away what has come
  // with this tag. Nothing where the transport takes its sends back by itself.
  virtual void withdraw(std::int32_t /*peer*/, std::int32_t /*own*/, std::int32_t /*tag*/) {}
  // Something has failed lately, and others may still tell of it: there is reason to poll although nothing is in
  // flight.
  virtual bool listening() const { return false; }
  // A send that was reported as finished is not with its peer yet, and may have to go once more; or what has come may
  // come again, since the peer may not know: there is reason to poll although nothing is in flight. descriptors() tells
  // of it.
  virtual bool flushing() { return false; }
  // Where the transport puts the notices that it receives. The object is shared, and has all notices of this process.
  virtual const Failures& failures() const = 0;

  // How its owner may sleep (Wakeup in base/socket_watch.hpp).
  // Descriptors that are readable while poll() would find something, for a thread that sleeps. By any thread.
  virtual std::vector<int> descriptors() const { return {}; }
  // What tells of all that is in flight: descriptors(), or nobody. (Only a domain's groups know what comes over
  // sockets.)
  virtual Wakeup wakeup() const { return in_flight() == 0 && !listening() ? Wakeup::descriptors : Wakeup::none; }
};

}  // namespace urakata::transport
