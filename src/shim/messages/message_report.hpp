// SPDX-License-Identifier: BSD-3-Clause
// What the report says of the program's own messages. Used only if a report is asked for: the entry points then take
// their observed form (MessagePath::observed).
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>

#include "observe/message_site.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

struct Request;

// One message, in the call that sends, receives or prepares it. Nothing is noted of messages with MPI_PROC_NULL, and of
// calls that the MPI library makes itself.
class ObservedMessage {
 public:
  // `operation`: "Isend"; `address`: the call's return address. Begins the time of waited().
  ObservedMessage(const char* operation, const void* address, int peer, MPI_Comm comm);

  // The following are called after the call has succeeded. Without them nothing is noted.
  void sent(std::int64_t count, MPI_Datatype type);
  void received(const MPI_Status& status);
  void waited();  // the message has ended inside the call
  // A send beside a receive: the time counts as waiting for the receive only.
  void sent_with_receive(std::int64_t count, MPI_Datatype type);
  // The message goes on after the call. The rest is noted at the end of its request, if the request is one of ours.
  void sent_later(std::int64_t count, MPI_Datatype type, MPI_Request handle);
  void received_later(MPI_Request handle);
  void prepared(MPI_Request handle);

 private:
  void attach(MPI_Request handle);

  observe::MessageSite* site_ = nullptr;
  std::uint64_t begin_ = 0;
};

// A persistent request of ours is about to be started; it has been started.
void observe_start(Request& request);
void observe_started(Request& request);
// A call that waits for the request or tests it has begun at `begin`. Such a call returns; some of these may be open.
void observe_entry(Request& request, std::uint64_t begin);
void observe_exit(int count, const MPI_Request* requests);
// The program has waited for the request, or tested it, since `begin` (observed_entry()) or since it waited for another
// one; so a moment counts once, for the message that was waited for first.
void observe_waiting(const Request& request, std::uint64_t begin);
// The program has waited for requests of the MPI library: that time counts for no message of ours.
void observe_other_waiting();
// The request is done and about to be completed.
void observe_end(Request& request, std::uint64_t begin);

// The observed form of a blocking send or receive. `run` performs the call and returns its MPI error code.
template <class Run>
int observed_send(ObservedMessage message, std::int64_t count, MPI_Datatype type, Run run) {
  const int code = run();
  if (code != MPI_SUCCESS) return code;
  message.sent(count, type);
  message.waited();
  return code;
}

template <class Run>
int observed_receive(ObservedMessage message, MPI_Status* status, Run run) {
  MPI_Status own{};
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  const int code = run(seen);
  if (code != MPI_SUCCESS) return code;
  message.received(*seen);
  message.waited();
  return code;
}

}  // namespace urakata::shim
