// SPDX-License-Identifier: BSD-3-Clause
// MPI_Send, MPI_Isend, MPI_Send_init and the other modes.
#include "shim/completion/staged_message.hpp"
#include "shim/messages/fast_calls.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/entries.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/profiled.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {
namespace {

// Sends by the link have functions of their own, so that sends in the space need no stack frame.
[[gnu::noinline]] int send_by_link(const void* buffer, std::int64_t count, MPI_Datatype type, int dest, int tag,
                                   MPI_Comm comm, p2p::Mode mode) {
  MessageDescriptor descriptor;
  if (!outgoing_by_link(buffer, count, type, dest, tag, comm, mode, descriptor)) return kNotOurs;
  if (have_devices() && needs_staging(descriptor)) return run_staged(descriptor, MPI_STATUS_IGNORE);
  return send_other_now(descriptor);
}

[[gnu::noinline]] int start_send_by_link(const void* buffer, std::int64_t count, MPI_Datatype type, int dest, int tag,
                                         MPI_Comm comm, p2p::Mode mode, MPI_Request* request) {
  MessageDescriptor descriptor;
  if (!outgoing_by_link(buffer, count, type, dest, tag, comm, mode, descriptor)) return kNotOurs;
  if (have_devices() && needs_staging(descriptor)) return start_staged(descriptor, request);
  return send_other_later(descriptor, request);
}

// Each of them for all modes and both kinds of counts: an MPI error code, or kNotOurs where the call is the MPI
// library's.
int send(const void* buffer, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, p2p::Mode mode) {
  MessageDescriptor descriptor;
  if (!outgoing(buffer, count, type, dest, tag, comm, mode, descriptor)) {
    return link() != nullptr ? send_by_link(buffer, count, type, dest, tag, comm, mode) : kNotOurs;
  }
  if (have_devices()) {
    const MessageDescriptor other = copy_of(descriptor);
    if (needs_staging(other)) return run_staged(other, MPI_STATUS_IGNORE);
  }
  return send_now(descriptor);
}

int start_send(const void* buffer, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               p2p::Mode mode, MPI_Request* request) {
  MessageDescriptor descriptor;
  if (request == nullptr) return kNotOurs;
  if (!outgoing(buffer, count, type, dest, tag, comm, mode, descriptor)) {
    return link() != nullptr ? start_send_by_link(buffer, count, type, dest, tag, comm, mode, request) : kNotOurs;
  }
  if (have_devices()) {
    const MessageDescriptor other = copy_of(descriptor);
    if (needs_staging(other)) return start_staged(other, request);
  }
  return send_later(descriptor, request);
}

int prepare_send(const void* buffer, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 p2p::Mode mode, MPI_Request* request) {
  MessageDescriptor descriptor;
  if (request == nullptr ||
      (!outgoing(buffer, count, type, dest, tag, comm, mode, descriptor) &&
       (link() == nullptr || !outgoing_by_link(buffer, count, type, dest, tag, comm, mode, descriptor)))) {
    return kNotOurs;
  }
  return prepare_message(descriptor, request);
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;
using urakata::p2p::Mode;

// The blocking, the non-blocking and the persistent form of a mode, each with counts of int and of MPI_Count.
#define URAKATA_SENDS(Blocking, Immediate, Init, mode, Count, suffix)                                                 \
  [[gnu::noinline]] static int in_space_##Blocking##suffix(const void* buffer, Count count, MPI_Datatype type,        \
                                                           int dest, int tag, MPI_Comm comm) {                        \
    const int code = send(buffer, count, type, dest, tag, comm, mode);                                                \
    if (code != kNotOurs) return code;                                                                                \
    need_native();                                                                                                    \
    return native.Blocking##suffix(buffer, count, type, dest, tag, comm);                                             \
  }                                                                                                                   \
  [[gnu::noinline]] static int observed_##Blocking##suffix(const void* buffer, Count count, MPI_Datatype type,        \
                                                           int dest, int tag, MPI_Comm comm) {                        \
    return observed_send({#Blocking #suffix, caller(__builtin_return_address(0)), dest, comm}, count, type,           \
                         [&] { return in_space_##Blocking##suffix(buffer, count, type, dest, tag, comm); });          \
  }                                                                                                                   \
  URAKATA_MESSAGE_EXPORT int MPI_##Blocking##suffix(const void* buffer, Count count, MPI_Datatype type, int dest,     \
                                                    int tag, MPI_Comm comm) {                                         \
    if (native.message_path == MessagePath::native)                                                                   \
      return native.Blocking##suffix(buffer, count, type, dest, tag, comm);                                           \
    if (native.message_path == MessagePath::space)                                                                    \
      return in_space_##Blocking##suffix(buffer, count, type, dest, tag, comm);                                       \
    return observed_##Blocking##suffix(buffer, count, type, dest, tag, comm);                                         \
  }                                                                                                                   \
  [[gnu::noinline]] static int in_space_##Immediate##suffix(const void* buffer, Count count, MPI_Datatype type,       \
                                                            int dest, int tag, MPI_Comm comm, MPI_Request* request) { \
    const int code = start_send(buffer, count, type, dest, tag, comm, mode, request);                                 \
    if (code != kNotOurs) return code;                                                                                \
    need_native();                                                                                                    \
    return native.Immediate##suffix(buffer, count, type, dest, tag, comm, request);                                   \
  }                                                                                                                   \
  [[gnu::noinline]] static int observed_##Immediate##suffix(const void* buffer, Count count, MPI_Datatype type,       \
                                                            int dest, int tag, MPI_Comm comm, MPI_Request* request) { \
    ObservedMessage message(#Immediate #suffix, caller(__builtin_return_address(0)), dest, comm);                     \
    const int code = in_space_##Immediate##suffix(buffer, count, type, dest, tag, comm, request);                     \
    if (code == MPI_SUCCESS) message.sent_later(count, type, *request);                                               \
    return code;                                                                                                      \
  }                                                                                                                   \
  URAKATA_MESSAGE_EXPORT int MPI_##Immediate##suffix(const void* buffer, Count count, MPI_Datatype type, int dest,    \
                                                     int tag, MPI_Comm comm, MPI_Request* request) {                  \
    if (native.message_path == MessagePath::native)                                                                   \
      return native.Immediate##suffix(buffer, count, type, dest, tag, comm, request);                                 \
    if (native.message_path == MessagePath::space)                                                                    \
      return in_space_##Immediate##suffix(buffer, count, type, dest, tag, comm, request);                             \
    return observed_##Immediate##suffix(buffer, count, type, dest, tag, comm, request);                               \
  }                                                                                                                   \
  URAKATA_EXPORT int MPI_##Init##suffix(const void* buffer, Count count, MPI_Datatype type, int dest, int tag,        \
                                        MPI_Comm comm, MPI_Request* request) {                                        \
    const int code = prepare_send(buffer, count, type, dest, tag, comm, mode, request);                               \
    if (code == MPI_SUCCESS && native.message_path == MessagePath::observed)                                          \
      ObservedMessage(#Init #suffix, caller(__builtin_return_address(0)), dest, comm).prepared(*request);             \
    if (code != kNotOurs) return code;                                                                                \
    need_native();                                                                                                    \
    return native.Init##suffix(buffer, count, type, dest, tag, comm, request);                                        \
  }                                                                                                                   \
  int PMPI_##Blocking##suffix(const void*, Count, MPI_Datatype, int, int, MPI_Comm)                                   \
      URAKATA_ALIAS(MPI_##Blocking##suffix);                                                                          \
  int PMPI_##Immediate##suffix(const void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)                    \
      URAKATA_ALIAS(MPI_##Immediate##suffix);                                                                         \
  int PMPI_##Init##suffix(const void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)                         \
      URAKATA_ALIAS(MPI_##Init##suffix);

// A ready send is handled as a standard send.
#define URAKATA_MODES(Count, suffix)                                         \
  URAKATA_SENDS(Send, Isend, Send_init, Mode::standard, Count, suffix)       \
  URAKATA_SENDS(Ssend, Issend, Ssend_init, Mode::synchronous, Count, suffix) \
  URAKATA_SENDS(Rsend, Irsend, Rsend_init, Mode::standard, Count, suffix)    \
  URAKATA_SENDS(Bsend, Ibsend, Bsend_init, Mode::buffered, Count, suffix)

URAKATA_MODES(int, )
#if defined(URAKATA_LARGE_COUNTS)
URAKATA_MODES(MPI_Count, _c)
#endif

}  // extern "C"
