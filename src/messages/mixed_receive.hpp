// SPDX-License-Identifier: BSD-3-Clause
// Receives on a mixed endpoint communicator whose message may come from outside the space: those from any source, and
// those from one rank outside that have to wait for the outcome of an earlier one from any source. They stand in a
// MixedQueue.
//
// Thread-safety: by any thread of the rank, except end() and settled(): those only by the thread that owns the receive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "messages/message_descriptor.hpp"
#include "messages/native_receives.hpp"
#include "p2p/open_message.hpp"

namespace urakata::messages {

class MixedQueue;

class MixedReceive {
 public:
  // What has become of a receive that is done.
  struct End {
    int code = 0;  // of the MPI library, where it has refused the receive; the rest says nothing then
    std::optional<NativeHandle> request;  // where the MPI library has carried it: to be completed, for its result
    p2p::Result result;                   // where it has not
  };

  // Starts the receive that the descriptor tells of. `owner` is whatever NativeReceives::dispose() needs. Both outlive
  // the receive.
  static std::unique_ptr<MixedReceive> start(MixedQueue& queue, const MessageDescriptor& descriptor, void* owner);
  // The same for a caller that waits for it at once, until it is done, and so asks the MPI library soon. Nobody can
  // cancel it, or give it back.
  MixedReceive(MixedQueue& queue, const MessageDescriptor& descriptor);
  MixedReceive(const MixedReceive&) = delete;
  MixedReceive& operator=(const MixedReceive&) = delete;

  // Whether the caller need not wait any more.
  bool done() const {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::finished || (state != State::at_native && open_ != nullptr && open_->done());
  }
  // Ends a receive that is done. Must be called at most once.
  End end();
  // What end() would return, of a receive that is done. The receive stays as it is.
  End settled() const;
  // As MPI_Cancel. A queued receive that no message has matched is done afterwards. One at the MPI library is done
  // once the library has ended it.
  void cancel();
  // The program gives the request back before its end. True: from now on the receive ends its owner itself. False: the
  // caller does.
  bool abandon();

  MixedReceive* next = nullptr;  // in the queue or among those at the MPI library

 private:
  // `finished`: without the endpoint.
  enum class State : std::uint8_t { queued, at_space, at_native, finished };
  friend class MixedQueue;

  MixedReceive(MixedQueue& queue, const MessageDescriptor& descriptor, void* owner)
      : queue_(queue), descriptor_(descriptor), owner_(owner) {}

  MixedQueue& queue_;
  const MessageDescriptor& descriptor_;
  void* const owner_;
  p2p::Request* open_ = nullptr;        // at the endpoint; taken back once the state is `at_native`
  std::optional<NativeHandle> theirs_;  // the MPI library's request
  int code_ = 0;                        // of the MPI library's call that started it
  bool abandoned_ = false;
  std::atomic<State> state_{State::queued};
};

}  // namespace urakata::messages
