// Receives on a mixed circle whose message may come from outside the space: those from any source, and those from one
// rank outside that have to wait for the outcome of an earlier one from any source.
//
// A receive from any source is posted at the endpoint and stands in a queue, in which a receive that could take the
// same message stands behind it. While the queue is looked through, the host is asked for each entry whether it has a
// message (MPI_Iprobe); if so the receive is taken back from the endpoint, and MPI_Improbe and MPI_Imrecv receive the
// message. If the endpoint has matched the receive before, it just leaves the queue. An entry never gets a message that
// an earlier one could take. A receive from outside that no entry of the queue can disturb goes to the host at once.
//
// The queue is looked through whenever the rank makes progress, also from within the host's own waiting.
//
// Thread-safety: by any thread, but one that is already in here (progress_mixed() returns false then).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "p2p/request.hpp"
#include "shim/abi.hpp"

namespace urakata::shim {

struct MessageDescriptor;
struct Request;

class MixedReceive {
 public:
  // Starts the receive that the request's descriptor tells of.
  static std::unique_ptr<MixedReceive> start(Request& owner);

  // The caller need not wait any more.
  bool done() const {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::finished || (state != State::at_host && open_ != nullptr && open_->done());
  }
  void wait();
  // Ends a receive that is done: the status, and the error code. `told`: the host has called the error handler.
  int finish(MPI_Status* status, bool* told);
  // The status of a receive that is done and stays as it is.
  void status(MPI_Status* status) const;
  void cancel();
  // The program gives the request back before its end: from now on the receive ends its owner itself. False: it is
  // done.
  bool abandon();

  MixedReceive* next = nullptr;  // in the queue or among those at the host

 private:
  // `finished`: without the endpoint.
  enum class State : std::uint8_t { queued, at_space, at_host, finished };
  friend class MixedQueue;

  explicit MixedReceive(Request& owner) : owner_(owner) {}
  const MessageDescriptor& descriptor() const;

  Request& owner_;
  p2p::Request* open_ = nullptr;  // at the endpoint; taken back once the state is `at_host`
  MPI_Request theirs_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;  // of the host's call that started it
  bool abandoned_ = false;
  std::atomic<State> state_{State::queued};
};

// Moves on what can move. Returns whether anything did.
bool progress_mixed();
// Are there receives in the queue? Those need further looks.
bool mixed_waiting();

// May the host have this receive, or probe, of a message from outside at once? False: an entry of the queue could take
// the same message, or another thread may be about to start such a receive.
bool free_for_host(const MessageDescriptor& descriptor);

// A probe at the host for a message that no entry of the queue takes.
bool probe_host(const MessageDescriptor& descriptor, MPI_Status* status);
bool take_from_host(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status);

}  // namespace urakata::shim
