// SPDX-License-Identifier: BSD-3-Clause
// The finished messages of one port of transport `stripes` that its owner has not been told of yet.
//
// Thread-safety: under the lock of Stripes; descriptor() by any thread.
#pragma once

#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace urakata::transport {

class CompletionQueue {
 public:
  CompletionQueue();
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  // Wakes the owner, unless it polls now or has been woken already.
  void complete(const Ticket& ticket, int error);

  // Around the poll of the owner, which gets what has finished until its end. `reported` is empty.
  void begin_poll() { polled_ = true; }
  void end_poll(std::vector<Completion>& reported);

  // Readable when messages were finished by the thread of another port.
  int descriptor() const { return event_; }

 private:
  const int event_;
  bool polled_ = false;
  bool told_ = false;  // there is a word in event_
  std::vector<Completion> finished_;
};

// The port that is told of the end of a message.
struct Waiter {
  CompletionQueue* queue = nullptr;  // nullptr: nobody waits
  Ticket ticket;

  void complete(int error) const { queue->complete(ticket, error); }
};

}  // namespace urakata::transport
