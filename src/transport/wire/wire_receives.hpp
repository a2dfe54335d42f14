// SPDX-License-Identifier: BSD-3-Clause
// The messages of a Wire from one peer: which of them meets which receive.
//
// Messages of one tag meet their receives in order. A message that comes before its receive is kept here, or, if it is
// longer than WireSends::kEager, waits at its sender.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/failed_contexts.hpp"
#include "transport/wire/frame.hpp"
#include "transport/wire/pair_connection.hpp"
#include "transport/wire/posted_receive.hpp"

namespace urakata::transport {

class WireReceives {
 public:
  // Over the connection `pair`; it and `failed` outlive this object. `failure`: the error code of receives that fail.
  WireReceives(PairConnection& pair, const FailedContexts& failed, int failure)
      : pair_(pair), failed_(failed), failure_(failure) {}

  // What has become of a receive: it is finished; or it waits for its message; or it waits, and its sender has been
  // asked for the payload, so the connection may be broken now.
  enum class Begun : std::uint8_t { finished, waits, asked };
  // `*error` says how it has finished.
  Begun recv(WirePort& port, const Message& message, const Ticket& ticket, int* error);

  // --- frames of the peer ---

  // Room for the payload of a `message` or `payload`. nullptr: the frame is invalid.
  std::byte* place(const Frame& frame);
  // A `message` or `payload` has come.
  void arrived(const Frame& frame);
  void rts_received(const Frame& frame);
  // So many bytes of the payload under way have come.
  void tell_progress(std::uint64_t come) {
    if (current_) current_->ticket.tell(come);
  }

  // --- what has failed ---

  // Gives up the receives of `instance`. Returns how many there were.
  std::size_t cancel(const void* instance);
  // Drops the messages that wait here for a receive on a failed context.
  void drop_failed();
  // All receives fail.
  void lose();
  // Receives are posted, and no message for them has begun to come.
  bool any_posted() const { return !posted_.empty(); }
  // Something is still to come from the peer.
  bool wanted() const;

 private:
  // A message that has come before its receive.
  struct Unexpected {
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
    std::vector<std::byte> payload = {};
    bool whole = false;         // the payload has come
    bool rts_received = false;  // the payload is still at the sender, under `id`
    std::uint64_t id = 0;
    std::unique_ptr<PostedReceive> taker = nullptr;  // the receive came while the payload was coming
  };

  std::deque<PostedReceive>::iterator posted_for(std::int32_t tag);
  void send_cts(std::uint64_t id, PostedReceive&& receive);

  PairConnection& pair_;
  const FailedContexts& failed_;
  const int failure_;

  std::deque<PostedReceive> posted_;  // oldest first
  std::deque<std::unique_ptr<Unexpected>> unexpected_;
  std::map<std::uint64_t, PostedReceive> cts_sent_;  // receives whose payload the peer was asked for, by id

  // The receive, or the unexpected message, whose payload is coming in; both null: none is.
  std::unique_ptr<PostedReceive> current_;
  Unexpected* current_unexpected_ = nullptr;
};

}  // namespace urakata::transport
