// The program's own messages on a circle: from the letter to the endpoint, and from its results to an MPI_Status. The
// usual way of a small one is in usual.hpp.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>
#include <memory>

#include "shim/abi.hpp"
#include "shim/letter.hpp"
#include "shim/mixed_receive.hpp"

namespace urakata::shim {

struct Request;

// What a Request holds where it stands for a message. Its circle and its type are held.
struct Message {
  p2p::Request* open = nullptr;         // nullptr: finished, or not started
  p2p::Request* beside = nullptr;       // the send of an Isendrecv, whose receive is `open`
  Letter letter;                        // letter.circle is nullptr: the request is something else
  p2p::Arrival* matched = nullptr;      // what MPI_Mprobe has found, until MPI_Mrecv
  std::unique_ptr<MixedReceive> mixed;  // instead of `open`, where letter.way is not the space

  bool done() const {
    if (open != nullptr ? !open->done() : mixed != nullptr && !mixed->done()) return false;
    return beside == nullptr || beside->done();
  }
  // Of a message that is over; the rest of the letter says nothing without these.
  void clear() {
    letter.circle = nullptr;
    letter.type = nullptr;
    letter.to = nullptr;
    letter.way = Way::space;
    open = beside = nullptr;
    matched = nullptr;
    mixed.reset();
  }
};

// Is it a rank outside this rank's space, on a mixed circle?
bool outside(int rank, MPI_Comm comm);
// Is there no need to wait for other receives, so that the host may have a receive from outside, or a probe, at once?
inline bool at_once(const Letter& letter) { return letter.way == Way::outside && free_for_host(copy_of(letter)); }
// The same for all starts of a persistent receive.
inline bool always_at_once(const Letter& letter) { return letter.way == Way::outside && letter.circle->unordered(); }

// What a layout is to the endpoint: held before its request is given back unfinished, or where the program may free its
// type meanwhile; the endpoint lets go of it when the request is over.
inline void hold(const p2p::Buffer& buffer) {
  if (buffer.layout != nullptr) static_cast<const Datatype*>(buffer.layout)->hold();
}
void let_go(const p2p::Request& request);
inline void give_back(p2p::Request& request) {
  endpoint()->release(request, request.buffer.layout != nullptr ? let_go : nullptr);
}
// The same for a request that the program has given back: MPI_Comm_disconnect waits for it.
void leave_behind(p2p::Request& request, Circle& circle);

// The end of a blocking call's send, whose buffer is held: returns when the program may use the buffer again.
void end_send(p2p::Request& request, p2p::Mode mode);

// Blocking calls whose message is not the usual one. The result is an MPI error code; the error handler has been
// called.
int send_other_now(const Letter& letter);
int receive_mixed_now(const Letter& letter, MPI_Status* status);

// A request for the letter, which is not started.
Request& make_message(const Letter& letter);
// The result is an MPI error code, other than success only where a buffer cannot be staged; the error handler has been
// called and the request is inactive.
int start_message(Request& request);
// A persistent one.
MPI_Request prepare_message(const Letter& letter);
// A send's request, which is started.
MPI_Request send_other_later(const Letter& letter);
// Starts a send that becomes part of a request which is not started yet. The result is as that of start_message().
int send_beside(Request& request, Letter send);
// Messages whose buffer must be staged; the results are as those of start_message().
[[gnu::cold]] int start_staged(const Letter& letter, MPI_Request* handle);
[[gnu::cold]] int finish_staged(MPI_Request handle, MPI_Status* status);  // waits
[[gnu::cold]] int run_staged(const Letter& letter, MPI_Status* status);   // both
void wait_for_message(Request& request);
// A call that does not wait for this request alone has found it unfinished: as if it waited, a send may be set aside.
// Nothing where it is no message.
void looked_in_vain(Request& request);
// Such a call has found nothing done: as if it waited, the host moves. Nothing where the rank is in no space.
void called_in_vain();

// The MPI error code of a receive that is done.
inline int code_of(const p2p::Result& result) {
  return result.outcome == p2p::Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
// The request is done: the status, and the error code. The endpoint gets its part back. `told`: the error handler has
// been called.
int finish_message(Request& request, MPI_Status* status, bool* told);
// The status of a done request that stays as it is.
void message_status(const Request& request, MPI_Status* status);
// As MPI_Request_free: what is active is finished without the program. False: the caller destroys the request. True: it
// is destroyed when it is over, and the caller must not touch it any more.
bool abandon_message(Request& request);

// As MPI_Cancel: a receive that is not matched is done then; everything else goes on.
void cancel_message(Request& request);

// A look that found nothing: a program that looks in a loop must not keep the core from the one it waits for.
void give_way();

}  // namespace urakata::shim
