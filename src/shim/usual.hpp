// The usual way of a small message inside a space: bytes without holes, sent at once, received from a rank of the
// space. Everything else branches off from here.
//
// Inline from the program's call to the endpoint, with the letter in registers: where a call branches off it hands a
// copy on.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include "shim/completion.hpp"
#include "shim/message.hpp"
#include "shim/request.hpp"
#include "shim/status.hpp"

namespace urakata::shim {

[[gnu::always_inline]] inline bool sent_at_once(const Letter& letter) {
  return letter.mode != p2p::Mode::synchronous && endpoint()->send_at_once(*letter.to, letter.envelope, letter.buffer);
}

// Blocking calls. The result is an MPI error code; the error handler has been called.
[[gnu::always_inline]] inline int send_now(const Letter& letter) {
  return sent_at_once(letter) ? MPI_SUCCESS : send_other_now(copy_of(letter));
}

[[gnu::always_inline]] inline int receive_now(const Letter& letter, MPI_Status* status) {
  if (letter.way != Way::space) return receive_mixed_now(copy_of(letter), status);
  p2p::Endpoint& here = *endpoint();
  p2p::Result result;
  if (here.receive_at_once(letter.envelope, letter.buffer, &result)) {
    set_status(status, result);
    return MPI_SUCCESS;
  }
  hold(letter.buffer);
  p2p::Request& open = here.receive(letter.envelope, letter.buffer);
  here.wait(open);
  set_status(status, open.result);
  const int code = code_of(open.result);
  give_back(open);
  if (code != MPI_SUCCESS) host.Comm_call_errhandler(letter.circle->handle, code);
  return code;
}

// The request of a send or a receive, which is started.
[[gnu::always_inline]] inline MPI_Request send_later(const Letter& letter) {
  return sent_at_once(letter) ? finished_send() : send_other_later(copy_of(letter));
}

// Of the letter no more is kept than the end of a receive needs.
[[gnu::always_inline]] inline MPI_Request receive_later(const Letter& letter) {
  if (letter.way != Way::space) {
    Request& request = make_message(copy_of(letter));
    start_message(request);
    return request.handle();
  }
  Request& request = *make_request();
  request.message.letter.circle = letter.circle;
  letter.circle->hold();
  if (letter.buffer.layout != nullptr) {
    request.message.letter.type = letter.type;
    letter.type->hold();
  }
  request.active = true;
  request.message.open = &endpoint()->receive(letter.envelope, letter.buffer);
  expect_messages();
  return request.handle();
}

// The end of the usual receive's request, which is done. False: nothing was done, complete() is needed.
[[gnu::always_inline]] inline bool complete_usual(Request& request, MPI_Request* handle, MPI_Status* status) {
  Message& message = request.message;
  if (message.open == nullptr || message.letter.to != nullptr || message.letter.type != nullptr ||
      message.beside != nullptr || request.persistent || message.open->result.outcome != p2p::Outcome::good) {
    return false;
  }
  set_status(status, message.open->result);
  endpoint()->release(*message.open);
  message.open = nullptr;
  message.letter.circle->release();
  message.letter.circle = nullptr;
  request.active = false;
  give_request_back(request);
  *handle = MPI_REQUEST_NULL;
  return true;
}

}  // namespace urakata::shim
