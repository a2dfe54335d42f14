// MPI_Probe, MPI_Iprobe, and matched probes with the receives of what they found.
#include "shim/completion.hpp"
#include "shim/devices.hpp"
#include "shim/entries.hpp"
#include "shim/message.hpp"
#include "shim/request.hpp"
#include "shim/status.hpp"
#include "shim/wait_until.hpp"

namespace urakata::shim {
namespace {

// On a mixed circle the space and the host have the first look in turn, so that neither keeps the other's messages
// out.
bool space_first() {
  thread_local unsigned turn = 0;
  return ++turn % 2 == 0;
}

bool find_in_space(const Letter& letter, MPI_Status* status) {
  p2p::Result found;
  if (!endpoint()->probe(letter.envelope, &found)) return false;
  set_status(status, found);
  return true;
}

bool find(const Letter& letter, MPI_Status* status) {
  if (letter.way == Way::space) return find_in_space(letter, status);
  if (letter.way == Way::outside) return probe_host(letter, status);
  if (space_first()) return find_in_space(letter, status) || probe_host(letter, status);
  return probe_host(letter, status) || find_in_space(letter, status);
}

bool take_in_space(const Letter& letter, MPI_Message* message, MPI_Status* status) {
  p2p::Result found;
  p2p::Arrival* matched = endpoint()->take(letter.envelope, &found);
  if (matched == nullptr) return false;
  Request& request = make_message(letter);
  request.message.matched = matched;
  *message = message_of(request);
  set_status(status, found);
  return true;
}

bool take(const Letter& letter, MPI_Message* message, MPI_Status* status) {
  if (letter.way == Way::space) return take_in_space(letter, message, status);
  if (letter.way == Way::outside) return take_from_host(letter, message, status);
  if (space_first()) return take_in_space(letter, message, status) || take_from_host(letter, message, status);
  return take_from_host(letter, message, status) || take_in_space(letter, message, status);
}

// The request becomes that of the receive. False: an argument is wrong, which is for the host to say of a receive from
// nobody, and the message stays, or (with an error code) its buffer cannot be staged.
bool receive_matched(Request& request, void* buffer, std::int64_t count, MPI_Datatype type, int* code) {
  *code = MPI_SUCCESS;
  Letter letter;
  if (!describe(buffer, count, type, letter)) return false;
  letter.circle = request.message.letter.circle;
  const Letter probed = request.message.letter;
  request.message.letter = letter;
  if (have_devices()) {
    *code = stage_message(request);
    if (*code != MPI_SUCCESS) {
      request.message.letter = probed;
      host.Comm_call_errhandler(letter.circle->handle, *code);
      return false;
    }
  }
  letter.type->hold();
  request.message.open = &endpoint()->receive(*request.message.matched, request.message.letter.buffer);
  request.message.matched = nullptr;
  request.active = true;
  return true;
}

int receive_matched_now(Request& request, MPI_Status* status) {
  MPI_Request handle = request.handle();
  wait_for_message(request);
  return complete(request, &handle, status, 0);
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  Letter letter;
  if (probing(source, tag, comm, letter) && !at_once(letter)) {
    wait_until([&] { return find(letter, status); });
    return MPI_SUCCESS;
  }
  need_host();
  return host.Probe(source, tag, comm, status);
}

URAKATA_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Letter letter;
  if (probing(source, tag, comm, letter) && !at_once(letter)) {
    *flag = find(letter, status) ? 1 : 0;
    if (*flag == 0) give_way();
    return MPI_SUCCESS;
  }
  need_host();
  return host.Iprobe(source, tag, comm, flag, status);
}

URAKATA_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Letter letter;
  if (probing(source, tag, comm, letter) && !at_once(letter)) {
    wait_until([&] { return take(letter, message, status); });
    return MPI_SUCCESS;
  }
  need_host();
  return host.Mprobe(source, tag, comm, message, status);
}

URAKATA_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                               MPI_Status* status) {
  Letter letter;
  if (probing(source, tag, comm, letter) && !at_once(letter)) {
    *flag = take(letter, message, status) ? 1 : 0;
    if (*flag == 0) give_way();
    return MPI_SUCCESS;
  }
  need_host();
  return host.Improbe(source, tag, comm, flag, message, status);
}

#define URAKATA_MATCHED(Count, suffix)                                                                                \
  URAKATA_EXPORT int MPI_Mrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,            \
                                       MPI_Status* status) {                                                          \
    need_host();                                                                                                      \
    Request* holder = message != nullptr ? holder_of(*message) : nullptr;                                             \
    if (holder == nullptr) return host.Mrecv##suffix(buffer, count, type, message, status);                           \
    int code = MPI_SUCCESS;                                                                                           \
    if (!receive_matched(*holder, buffer, count, type, &code)) {                                                      \
      if (code != MPI_SUCCESS) return code;                                                                           \
      return host.Recv##suffix(buffer, count, type, MPI_PROC_NULL, 0, holder->message.letter.circle->handle, status); \
    }                                                                                                                 \
    *message = MPI_MESSAGE_NULL;                                                                                      \
    return receive_matched_now(*holder, status);                                                                      \
  }                                                                                                                   \
  URAKATA_EXPORT int MPI_Imrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,           \
                                        MPI_Request* request) {                                                       \
    need_host();                                                                                                      \
    Request* holder = message != nullptr ? holder_of(*message) : nullptr;                                             \
    if (holder == nullptr) return host.Imrecv##suffix(buffer, count, type, message, request);                         \
    int code = MPI_SUCCESS;                                                                                           \
    if (!receive_matched(*holder, buffer, count, type, &code)) {                                                      \
      if (code != MPI_SUCCESS) return code;                                                                           \
      return host.Irecv##suffix(buffer, count, type, MPI_PROC_NULL, 0, holder->message.letter.circle->handle,         \
                                request);                                                                             \
    }                                                                                                                 \
    *message = MPI_MESSAGE_NULL;                                                                                      \
    *request = holder->handle();                                                                                      \
    return MPI_SUCCESS;                                                                                               \
  }                                                                                                                   \
  int PMPI_Mrecv##suffix(void*, Count, MPI_Datatype, MPI_Message*, MPI_Status*) URAKATA_ALIAS(MPI_Mrecv##suffix);     \
  int PMPI_Imrecv##suffix(void*, Count, MPI_Datatype, MPI_Message*, MPI_Request*) URAKATA_ALIAS(MPI_Imrecv##suffix);

URAKATA_MATCHED(int, )
#if defined(URAKATA_LARGE_COUNTS)
URAKATA_MATCHED(MPI_Count, _c)
#endif

int PMPI_Probe(int, int, MPI_Comm, MPI_Status*) URAKATA_ALIAS(MPI_Probe);
int PMPI_Iprobe(int, int, MPI_Comm, int*, MPI_Status*) URAKATA_ALIAS(MPI_Iprobe);
int PMPI_Mprobe(int, int, MPI_Comm, MPI_Message*, MPI_Status*) URAKATA_ALIAS(MPI_Mprobe);
int PMPI_Improbe(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*) URAKATA_ALIAS(MPI_Improbe);

}  // extern "C"
