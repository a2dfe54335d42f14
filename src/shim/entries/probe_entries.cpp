// SPDX-License-Identifier: BSD-3-Clause
// MPI_Probe, MPI_Iprobe, and matched probes with the receives of what they found.
#include "shim/completion/completion.hpp"
#include "shim/messages/message.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/entries.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/staging.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {
namespace {

// On a mixed endpoint communicator, endpoint and MPI library take turns in being probed first, so that the messages of
// neither keep the other's out.
bool space_first() {
  thread_local unsigned turn = 0;
  return ++turn % 2 == 0;
}

bool find_here(const MessageDescriptor& descriptor, MPI_Status* status) {
  p2p::Result found;
  if (!endpoint()->probe(descriptor.envelope, &found)) return false;
  set_status(status, found);
  return true;
}

bool find(const MessageDescriptor& descriptor, MPI_Status* status) {
  if (messages::by_endpoint(descriptor.carrier)) return find_here(descriptor, status);
  if (descriptor.carrier == Carrier::by_native) return probe_native(descriptor, status);
  if (space_first()) return find_here(descriptor, status) || probe_native(descriptor, status);
  return probe_native(descriptor, status) || find_here(descriptor, status);
}

// After have_request(), since what is taken must not be lost.
bool take_after_failure(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status) {
  p2p::Result found;
  p2p::Unexpected* matched = endpoint()->take(descriptor.envelope, &found);
  if (matched == nullptr) return false;
  Request& request = make_message(descriptor);
  request.message.matched = matched;
  *message = message_of(request);
  set_status(status, found);
  return true;
}

bool take(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status) {
  if (messages::by_endpoint(descriptor.carrier)) return take_after_failure(descriptor, message, status);
  if (descriptor.carrier == Carrier::by_native) return take_from_native(descriptor, message, status);
  if (space_first())
    return take_after_failure(descriptor, message, status) || take_from_native(descriptor, message, status);
  return take_from_native(descriptor, message, status) || take_after_failure(descriptor, message, status);
}

// Receives the matched message that a request holds; the request becomes that of the receive. False: the message stays
// with the request. If `*code` is then MPI_SUCCESS, an argument is wrong, and the caller has the MPI library report it
// in a receive from MPI_PROC_NULL. Otherwise the buffer cannot be staged, and the error handler has been called.
bool receive_matched(Request& request, void* buffer, std::int64_t count, MPI_Datatype type, int* code) {
  *code = MPI_SUCCESS;
  MessageDescriptor descriptor;
  if (!describe(buffer, count, type, descriptor)) return false;
  descriptor.endpoint_comm = request.message.descriptor.endpoint_comm;
  const MessageDescriptor probed = request.message.descriptor;
  request.message.describe(descriptor);
  if (have_devices()) {
    *code = stage_message(request);
    if (*code != MPI_SUCCESS) {
      request.message.describe(probed);
      error_target(*descriptor.endpoint_comm).tell(*code);
      return false;
    }
  }
  datatype_of(descriptor).retain();
  request.message.open = &endpoint()->receive(*request.message.matched, request.message.descriptor.buffer);
  request.message.matched = nullptr;
  request.active = true;
  return true;
}

// The message's communicator; MPI_COMM_WORLD where the program has freed it.
MPI_Comm live_comm_of(const Request& request) {
  const EndpointComm& endpoint_comm = *request.message.descriptor.endpoint_comm;
  return endpoint_comm.gone() ? MPI_COMM_WORLD : comm_of(endpoint_comm);
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
  MessageDescriptor descriptor;
  if (probing(source, tag, comm, descriptor) && !at_once(descriptor)) {
    bool found = false;
    wait_until([&] { return (found = find(descriptor, status)) || lost(descriptor); });
    return found ? MPI_SUCCESS : refuse(descriptor, MPI_ERR_OTHER);
  }
  need_native();
  return native.Probe(source, tag, comm, status);
}

URAKATA_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  MessageDescriptor descriptor;
  if (probing(source, tag, comm, descriptor) && !at_once(descriptor)) {
    *flag = find(descriptor, status) ? 1 : 0;
    if (*flag == 0) give_way();
    return MPI_SUCCESS;
  }
  need_native();
  return native.Iprobe(source, tag, comm, flag, status);
}

URAKATA_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  MessageDescriptor descriptor;
  if (probing(source, tag, comm, descriptor) && !at_once(descriptor)) {
    if (!have_request()) return no_request(descriptor);
    bool taken = false;
    wait_until([&] { return (taken = take(descriptor, message, status)) || lost(descriptor); });
    return taken ? MPI_SUCCESS : refuse(descriptor, MPI_ERR_OTHER);
  }
  need_native();
  return native.Mprobe(source, tag, comm, message, status);
}

URAKATA_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                               MPI_Status* status) {
  MessageDescriptor descriptor;
  if (probing(source, tag, comm, descriptor) && !at_once(descriptor)) {
    if (!have_request()) return no_request(descriptor);
    *flag = take(descriptor, message, status) ? 1 : 0;
    if (*flag == 0) give_way();
    return MPI_SUCCESS;
  }
  need_native();
  return native.Improbe(source, tag, comm, flag, message, status);
}

#define URAKATA_MATCHED(Count, suffix)                                                                            \
  URAKATA_EXPORT int MPI_Mrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,        \
                                       MPI_Status* status) {                                                      \
    need_native();                                                                                                \
    Request* holder = message != nullptr ? holder_of(*message) : nullptr;                                         \
    if (holder == nullptr) return native.Mrecv##suffix(buffer, count, type, message, status);                     \
    int code = MPI_SUCCESS;                                                                                       \
    if (!receive_matched(*holder, buffer, count, type, &code)) {                                                  \
      if (code != MPI_SUCCESS) return code;                                                                       \
      return native.Recv##suffix(buffer, count, type, MPI_PROC_NULL, 0, live_comm_of(*holder), status);           \
    }                                                                                                             \
    *message = MPI_MESSAGE_NULL;                                                                                  \
    return receive_matched_now(*holder, status);                                                                  \
  }                                                                                                               \
  URAKATA_EXPORT int MPI_Imrecv##suffix(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,       \
                                        MPI_Request* request) {                                                   \
    need_native();                                                                                                \
    Request* holder = message != nullptr ? holder_of(*message) : nullptr;                                         \
    if (holder == nullptr) return native.Imrecv##suffix(buffer, count, type, message, request);                   \
    int code = MPI_SUCCESS;                                                                                       \
    if (!receive_matched(*holder, buffer, count, type, &code)) {                                                  \
      if (code != MPI_SUCCESS) return code;                                                                       \
      return native.Irecv##suffix(buffer, count, type, MPI_PROC_NULL, 0, live_comm_of(*holder), request);         \
    }                                                                                                             \
    *message = MPI_MESSAGE_NULL;                                                                                  \
    *request = holder->handle();                                                                                  \
    return MPI_SUCCESS;                                                                                           \
  }                                                                                                               \
  int PMPI_Mrecv##suffix(void*, Count, MPI_Datatype, MPI_Message*, MPI_Status*) URAKATA_ALIAS(MPI_Mrecv##suffix); \
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
