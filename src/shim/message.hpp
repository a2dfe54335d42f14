// The program's own messages on a circle: from the arguments of MPI_Send and its kin to the endpoint, and from its
// results to an MPI_Status.
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <cstdint>
#include <memory>

#include "shim/abi.hpp"
#include "shim/circle.hpp"
#include "shim/datatype.hpp"
#include "shim/mixed_receive.hpp"

namespace urakata::shim {

struct Request;

// Where a message comes from: a rank of the space, one outside of it (on a mixed circle, through the host), or either.
enum class Way : std::uint8_t { space, outside, either };

// A send or a receive that is ours to handle, with arguments that have been checked.
struct Letter {
  Circle* circle = nullptr;
  const Datatype* type = nullptr;
  std::int64_t count = 0;  // of elements
  p2p::Buffer buffer;
  p2p::Envelope envelope;   // of a send; the pattern of a receive
  p2p::Port* to = nullptr;  // of a send; nullptr: a receive
  p2p::Mode mode = p2p::Mode::standard;
  Way way = Way::space;  // of a receive
};

// What a Request holds where it stands for a message. Its circle and its type are held.
struct Message {
  Letter letter;                        // letter.circle is nullptr: the request is something else
  p2p::Request* open = nullptr;         // nullptr: finished, or not started
  p2p::Request* beside = nullptr;       // the send of an Isendrecv, whose receive is `open`
  p2p::Arrival* matched = nullptr;      // what MPI_Mprobe has found, until MPI_Mrecv
  std::unique_ptr<MixedReceive> mixed;  // instead of `open`, where letter.way is not the space

  bool done() const {
    return (open == nullptr || open->done()) && (beside == nullptr || beside->done()) &&
           (mixed == nullptr || mixed->done());
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

// True: the call is ours. False: it is the host's, also where the host has to refuse an argument.
bool outgoing(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              p2p::Mode mode, Letter& letter);
bool incoming(void* address, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm, Letter& letter);
// Is it a rank outside this rank's space, on a mixed circle?
bool outside(int rank, MPI_Comm comm);
// Is there no need to wait for other receives, so that the host may have a receive from outside, or a probe, at once?
inline bool at_once(const Letter& letter) { return letter.way == Way::outside && free_for_host(letter); }
// The same for all starts of a persistent receive.
inline bool always_at_once(const Letter& letter) { return letter.way == Way::outside && letter.circle->unordered(); }
// The same as incoming() for a probe.
bool probing(int source, int tag, MPI_Comm comm, Letter& letter);
// The buffer for a message that MPI_Mprobe has found.
bool describe(void* address, std::int64_t count, MPI_Datatype type, Letter& letter);

// What a layout is to the endpoint: held before its request is given back unfinished, or where the program may free its
// type meanwhile; the endpoint lets go of it when the request is over.
void hold(const p2p::Buffer& buffer);
void give_back(p2p::Request& request);
// The same for a request that the program has given back: MPI_Comm_disconnect waits for it.
void leave_behind(p2p::Request& request, Circle& circle);

// The end of a blocking call's send, whose buffer is held: returns when the program may use the buffer again.
void end_send(p2p::Request& request, p2p::Mode mode);

// Blocking calls. The result is an MPI error code; the error handler has been called.
int send_now(const Letter& letter);
int receive_now(const Letter& letter, MPI_Status* status);

// A request for the letter, which is not started.
Request& make_message(const Letter& letter);
void start_message(Request& request);
// A persistent one.
MPI_Request prepare_message(const Letter& letter);
// A send's or a receive's request, which is started.
MPI_Request send_later(const Letter& letter);
MPI_Request receive_later(const Letter& letter);
// Starts a send that becomes part of a request which is not started yet.
void send_beside(Request& request, const Letter& send);
void wait_for_message(Request& request);
// A call that does not wait for this request alone has found it unfinished: as if it waited, a send may be set aside.
// Nothing where it is no message.
void looked_in_vain(Request& request);
// Such a call has found nothing done: as if it waited, the host moves. Nothing where the rank is in no space.
void called_in_vain();

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

void set_status(MPI_Status* status, const p2p::Result& result);

}  // namespace urakata::shim
