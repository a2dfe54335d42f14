#include "shim/message.hpp"

#include <sched.h>

#include "shim/completion.hpp"
#include "shim/host.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"

namespace urakata::shim {

namespace {

std::byte* bytes_at(const void* address) { return static_cast<std::byte*>(const_cast<void*>(address)); }

bool pattern_of(int source, int tag, MPI_Comm comm, Letter& letter) {
  letter.circle = circle(comm);
  if (letter.circle == nullptr) return false;
  const Circle& in = *letter.circle;
  const bool any = source == MPI_ANY_SOURCE;
  if (!any && static_cast<std::size_t>(source) >= in.peers.size()) return false;
  if (tag != MPI_ANY_TAG && (tag < 0 || tag > largest_tag())) return false;
  if (in.mixed && any) letter.way = Way::either;
  if (in.mixed && !any && in.peers[static_cast<std::size_t>(source)].port == nullptr) letter.way = Way::outside;
  letter.envelope = {in.context, any ? p2p::kAnySource : source, tag == MPI_ANY_TAG ? p2p::kAnyTag : tag};
  return true;
}

int code_of(const p2p::Result& result) {
  return result.outcome == p2p::Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

void let_go(const p2p::Request& request) { static_cast<const Datatype*>(request.buffer.layout)->release(); }

void let_go_of_circle(const p2p::Request& request) {
  if (request.buffer.layout != nullptr) let_go(request);
  static_cast<Circle*>(request.owner)->drop();
}

}  // namespace

bool describe(void* address, std::int64_t count, MPI_Datatype type, Letter& letter) {
  if (count < 0) return false;
  letter.type = datatype(type);
  if (letter.type == nullptr) return false;
  const auto elements = static_cast<std::uint64_t>(count);
  // Types of absolute addresses begin at MPI_BOTTOM, which is nullptr too, and have their bytes elsewhere.
  if (address == nullptr && letter.type->true_lb == 0 && elements * letter.type->size != 0) return false;
  letter.count = count;
  letter.buffer = letter.type->contiguous ? p2p::Buffer{bytes_at(address), elements * letter.type->size, nullptr}
                                          : p2p::Buffer{bytes_at(address), elements, letter.type};
  return true;
}

bool outgoing(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              p2p::Mode mode, Letter& letter) {
  if (endpoint() == nullptr) return false;
  letter.circle = circle(comm);
  if (letter.circle == nullptr || static_cast<std::size_t>(dest) >= letter.circle->peers.size()) return false;
  const Circle::Peer& peer = letter.circle->peers[static_cast<std::size_t>(dest)];
  if (peer.port == nullptr || tag < 0 || tag > largest_tag()) return false;
  if (!describe(const_cast<void*>(address), count, type, letter)) return false;
  letter.envelope = {peer.context, letter.circle->rank, tag};
  letter.to = peer.port;
  letter.mode = mode;
  return true;
}

bool incoming(void* address, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              Letter& letter) {
  return endpoint() != nullptr && pattern_of(source, tag, comm, letter) && describe(address, count, type, letter);
}

bool probing(int source, int tag, MPI_Comm comm, Letter& letter) {
  return endpoint() != nullptr && pattern_of(source, tag, comm, letter);
}

bool outside(int rank, MPI_Comm comm) {
  const Circle* in = endpoint() != nullptr ? circle(comm) : nullptr;
  return in != nullptr && static_cast<std::size_t>(rank) < in->peers.size() &&
         in->peers[static_cast<std::size_t>(rank)].port == nullptr;
}

void hold(const p2p::Buffer& buffer) {
  if (buffer.layout != nullptr) static_cast<const Datatype*>(buffer.layout)->hold();
}

void give_back(p2p::Request& request) {
  endpoint()->release(request, request.buffer.layout != nullptr ? let_go : nullptr);
}

void end_send(p2p::Request& request, p2p::Mode mode) {
  if (mode != p2p::Mode::buffered) endpoint()->wait(request);
  // Buffered or set aside it still has to go on its way, and the program may go into the host now.
  if (!request.finished.load(std::memory_order_relaxed)) expect_messages();
  give_back(request);
}

void leave_behind(p2p::Request& request, Circle& circle) {
  circle.leave_behind();
  request.owner = &circle;
  endpoint()->release(request, let_go_of_circle);
}

int send_now(const Letter& letter) {
  p2p::Endpoint& here = *endpoint();
  if (p2p::Request* open = here.send(*letter.to, letter.envelope, letter.buffer, letter.mode)) {
    hold(letter.buffer);
    end_send(*open, letter.mode);
  }
  return MPI_SUCCESS;
}

int receive_now(const Letter& letter, MPI_Status* status) {
  if (letter.way != Way::space) {
    Request& request = make_message(letter);
    start_message(request);
    MPI_Request handle = request.handle();
    request.message.mixed->wait();
    return complete(request, &handle, status, 0);
  }
  p2p::Endpoint& here = *endpoint();
  hold(letter.buffer);
  p2p::Request& open = here.receive(letter.envelope, letter.buffer);
  here.wait(open);
  const p2p::Result result = open.result;
  give_back(open);
  set_status(status, result);
  const int code = code_of(result);
  if (code != MPI_SUCCESS) host.Comm_call_errhandler(letter.circle->handle, code);
  return code;
}

Request& make_message(const Letter& letter) {
  Request& request = *make_request();
  request.message.letter = letter;
  letter.circle->hold();
  if (letter.type != nullptr) letter.type->hold();
  return request;
}

MPI_Request prepare_message(const Letter& letter) {
  Request& request = make_message(letter);
  request.persistent = true;
  return request.handle();
}

void start_message(Request& request) {
  p2p::Endpoint& here = *endpoint();
  const Letter& letter = request.message.letter;
  request.active = true;
  if (letter.way != Way::space) {
    request.message.mixed = MixedReceive::start(request);
    expect_messages();
  } else if (letter.to == nullptr) {
    request.message.open = &here.receive(letter.envelope, letter.buffer);
  } else {
    request.message.open = here.send(*letter.to, letter.envelope, letter.buffer, letter.mode);
  }
  if (request.message.open != nullptr) expect_messages();
  if (letter.to != nullptr && request.message.open != nullptr && letter.mode == p2p::Mode::buffered) {
    hold(letter.buffer);
    give_back(*request.message.open);
    request.message.open = nullptr;
  }
}

MPI_Request send_later(const Letter& letter) {
  p2p::Request* open = endpoint()->send(*letter.to, letter.envelope, letter.buffer, letter.mode);
  if (open == nullptr) return finished_send();
  expect_messages();
  if (letter.mode == p2p::Mode::buffered) {
    hold(letter.buffer);
    give_back(*open);
    return finished_send();
  }
  Request& request = make_message(letter);
  request.active = true;
  request.message.open = open;
  return request.handle();
}

// Of the letter no more is kept than the end of a receive needs.
MPI_Request receive_later(const Letter& letter) {
  if (letter.way != Way::space) {
    Request& request = make_message(letter);
    start_message(request);
    return request.handle();
  }
  Request& request = *make_request();
  Message& message = request.message;
  message.letter.circle = letter.circle;
  letter.circle->hold();
  if (letter.buffer.layout != nullptr) {
    message.letter.type = letter.type;
    letter.type->hold();
  }
  request.active = true;
  message.open = &endpoint()->receive(letter.envelope, letter.buffer);
  expect_messages();
  return request.handle();
}

void send_beside(Request& request, const Letter& send) {
  p2p::Endpoint& here = *endpoint();
  request.message.beside = here.send(*send.to, send.envelope, send.buffer, send.mode);
  if (request.message.beside == nullptr) return;
  hold(send.buffer);  // the request holds the receive's
  if (send.mode == p2p::Mode::buffered) {
    give_back(*request.message.beside);
    request.message.beside = nullptr;
  }
}

void wait_for_message(Request& request) {
  for (p2p::Request* part : {request.message.open, request.message.beside}) {
    if (part != nullptr) endpoint()->wait(*part);
  }
  if (request.message.mixed != nullptr) request.message.mixed->wait();
}

void looked_in_vain(Request& request) {
  if (!request.is_message()) return;
  for (p2p::Request* part : {request.message.open, request.message.beside}) {
    if (part != nullptr) endpoint()->looked_in_vain(*part);
  }
}

void called_in_vain() {
  // Each time, since a large message of the host's may need thousands of looks. The core is not given away: another
  // rank may keep it for a whole turn.
  if (endpoint() != nullptr) endpoint()->manners().poll();
}

int finish_message(Request& request, MPI_Status* status, bool* told) {
  Message& message = request.message;
  *told = false;
  int code = MPI_SUCCESS;
  if (message.mixed != nullptr) {
    code = message.mixed->finish(status, told);
  } else {
    message_status(request, status);
  }
  if (message.beside != nullptr) give_back(*message.beside);
  if (message.open != nullptr) {
    if (message.letter.to == nullptr) code = code_of(message.open->result);
    endpoint()->release(*message.open);
  }
  message.mixed.reset();
  message.open = message.beside = nullptr;
  return code;
}

void message_status(const Request& request, MPI_Status* status) {
  const Message& message = request.message;
  if (message.mixed != nullptr) {
    message.mixed->status(status);
  } else if (message.letter.to == nullptr && message.open != nullptr) {
    set_status(status, message.open->result);
  } else if (message.letter.to == nullptr && request.active) {
    nobodys_status(status);
  } else {
    empty_status(status);
  }
}

bool abandon_message(Request& request) {
  Message& message = request.message;
  if (message.open != nullptr) {
    hold(message.open->buffer);
    leave_behind(*message.open, *message.letter.circle);
  }
  if (message.beside != nullptr) leave_behind(*message.beside, *message.letter.circle);
  message.open = message.beside = nullptr;
  return message.mixed != nullptr && message.mixed->abandon();
}

void cancel_message(Request& request) {
  Message& message = request.message;
  if (message.mixed != nullptr) message.mixed->cancel();
  if (message.letter.to == nullptr && message.open != nullptr) endpoint()->cancel(*message.open);
}

void give_way() {
  const p2p::Manners& manners = endpoint()->manners();
  if (manners.poll != nullptr) manners.poll();
  if (manners.oversubscribed) sched_yield();
}

// Where the family's status has its fields is part of its ABI; the standard ABI leaves them to the library.
void set_status(MPI_Status* status, const p2p::Result& result) {
  if (status == MPI_STATUS_IGNORE) return;
  const bool cancelled = result.outcome == p2p::Outcome::cancelled;
  status->MPI_SOURCE = result.source == p2p::kAnySource ? MPI_ANY_SOURCE : result.source;
  status->MPI_TAG = result.tag == p2p::kAnyTag ? MPI_ANY_TAG : result.tag;
#if defined(URAKATA_ABI_OPENMPI)
  status->_ucount = result.bytes;
  status->_cancelled = cancelled ? 1 : 0;
#elif defined(URAKATA_ABI_MPICH)
  status->count_lo = static_cast<int>(static_cast<std::uint32_t>(result.bytes));
  status->count_hi_and_cancelled =
      static_cast<int>(static_cast<std::uint32_t>(result.bytes >> 32U << 1U) | (cancelled ? 1U : 0U));
#else
  host.Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(result.bytes));
  host.Status_set_cancelled(status, cancelled ? 1 : 0);
#endif
}

}  // namespace urakata::shim
