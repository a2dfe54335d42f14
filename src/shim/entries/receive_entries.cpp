// SPDX-License-Identifier: BSD-3-Clause
// MPI_Recv, MPI_Irecv, MPI_Recv_init, MPI_Sendrecv and MPI_Sendrecv_replace.
#include "shim/completion/completion.hpp"
#include "shim/completion/left_behind.hpp"
#include "shim/completion/staged_message.hpp"
#include "shim/messages/fast_calls.hpp"
#include "shim/messages/message_report.hpp"
#include "shim/messages/native_send.hpp"
#include "shim/native/entries.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {
namespace {

// Each of them for both kinds of counts: an MPI error code, or kNotOurs where the call is the MPI library's.
int receive(void* buffer, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status* status) {
  MessageDescriptor descriptor;
  if (!incoming(buffer, count, type, source, tag, comm, descriptor) || at_once(descriptor)) return kNotOurs;
  if (have_devices()) {
    const MessageDescriptor other = copy_of(descriptor);
    if (needs_staging(other)) return run_staged(other, status);
  }
  return receive_now(descriptor, status);
}

int start_receive(void* buffer, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  MessageDescriptor descriptor;
  if (request == nullptr || !incoming(buffer, count, type, source, tag, comm, descriptor) || at_once(descriptor))
    return kNotOurs;
  if (have_devices()) {
    const MessageDescriptor other = copy_of(descriptor);
    if (needs_staging(other)) return start_staged(other, request);
  }
  return receive_later(descriptor, request);
}

int prepare_receive(void* buffer, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  MessageDescriptor descriptor;
  if (request == nullptr || !incoming(buffer, count, type, source, tag, comm, descriptor) || always_at_once(descriptor))
    return kNotOurs;
  return prepare_message(descriptor, request);
}

struct ExchangeSide {
  const void* address;
  std::int64_t count;
  MPI_Datatype type;
  int peer;
  int tag;
};

// The two halves of a Sendrecv; either may be with MPI_PROC_NULL.
struct Exchange {
  ExchangeSide out;
  MPI_Comm comm;
  bool copies;             // whether the send must copy its payload, since the receive may overwrite the buffer
  MessageDescriptor send;  // empty if the MPI library sends
  MessageDescriptor receive;
  bool sends = false;
  bool by_native = false;  // whether the MPI library sends, on a mixed endpoint communicator
  bool receives = false;
};

// Reads the arguments of a Sendrecv. False: the call falls back, since an argument is wrong, or since each half is with
// MPI_PROC_NULL or goes through the MPI library.
bool exchanging(const ExchangeSide& in, Exchange& both) {
  const ExchangeSide& out = both.out;
  both.sends = out.peer != MPI_PROC_NULL;
  both.receives = in.peer != MPI_PROC_NULL;
  both.by_native = both.sends && outside(out.peer, both.comm);
  if (both.receives &&
      !incoming(const_cast<void*>(in.address), in.count, in.type, in.peer, in.tag, both.comm, both.receive)) {
    return false;
  }
  const auto mode = both.copies ? p2p::Mode::buffered : p2p::Mode::standard;
  if (both.sends && !both.by_native &&
      !outgoing(out.address, out.count, out.type, out.peer, out.tag, both.comm, mode, both.send) &&
      !outgoing_by_link(out.address, out.count, out.type, out.peer, out.tag, both.comm, mode, both.send)) {
    return false;
  }
  return (both.sends && !both.by_native) || (both.receives && !at_once(both.receive));
}

int start(const Exchange& both, NativeSend& send, bool copies) {
  const ExchangeSide& out = both.out;
  return copies ? send.start_copy(out.address, out.count, out.type, out.peer, out.tag, both.comm)
                : send.start(out.address, out.count, out.type, out.peer, out.tag, both.comm);
}

// The send is on its way before the receive waits.
int exchange_now(const Exchange& both, MPI_Status* status) {
  const MessageDescriptor& send = both.send;
  NativeSend by_native;
  const bool devices = have_devices();
  p2p::Request* out = nullptr;
  MPI_Request staged = MPI_REQUEST_NULL;  // instead of `out`
  int code = MPI_SUCCESS;
  if (both.by_native) {
    code = start(both, by_native, both.copies);
    if (code != MPI_SUCCESS) return code;
  } else if (both.sends && devices && needs_staging(send)) {
    code = start_staged(send, &staged);
    if (code != MPI_SUCCESS) return code;
  } else if (both.sends) {
    out = open_send(send);
    if (out != nullptr) retain(send.buffer);
  }
  if (both.receives) {
    code =
        devices && needs_staging(both.receive) ? run_staged(both.receive, status) : receive_now(both.receive, status);
  } else {
    nobodys_status(status);
  }
  if (out != nullptr) {
    const int sent = end_send(*out, send);
    if (code == MPI_SUCCESS) code = sent;
  }
  if (staged != MPI_REQUEST_NULL) {
    const int sent = finish_staged(staged, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = sent;
  }
  if (both.by_native) {
    const int sent = by_native.finish();
    if (code == MPI_SUCCESS) code = sent;
  }
  return code;
}

#if defined(URAKATA_LARGE_COUNTS)  // MPI 4, which also has MPI_Isendrecv
// A request for the receive, which also holds the send. A receive from MPI_PROC_NULL is one that has nothing open.
int exchange_later(const Exchange& both, MPI_Request* handle) {
  MessageDescriptor receive = both.receive;
  if (!both.receives) receive.endpoint_comm = both.send.endpoint_comm;
  if (!have_request()) return no_request(receive);
  if (both.by_native) {
    auto send = std::make_unique<NativeSend>();
    const int code = start(both, *send, true);
    if (code != MPI_SUCCESS) return code;
    NativeSend::detach(std::move(send));
  }
  Request& request = make_message(receive);
  int code = MPI_SUCCESS;
  if (both.sends && !both.by_native) code = send_beside(request, both.send);
  if (both.receives && code == MPI_SUCCESS) {
    code = start_message(request);
  } else if (code == MPI_SUCCESS) {
    request.active = true;
    expect_messages();
  }
  if (code != MPI_SUCCESS) {
    request.active = true;
    leave_to_settle(request);  // the send, if there is one, goes on without the program
    return code;
  }
  *handle = request.handle();
  return MPI_SUCCESS;
}
#endif

// The observed forms: two messages. The time is the receive's.
template <class Run>
int observed_exchange(const char* name, const void* address, int dest, std::int64_t count, MPI_Datatype type,
                      int source, MPI_Comm comm, MPI_Status* status, Run run) {
  ObservedMessage out(name, address, dest, comm);
  if (source == MPI_PROC_NULL) return observed_send(out, count, type, [&] { return run(status); });
  const int code = observed_receive({name, address, source, comm}, status, run);
  if (code == MPI_SUCCESS) out.sent_with_receive(count, type);
  return code;
}

#if defined(URAKATA_LARGE_COUNTS)
template <class Run>
int observed_exchange_later(const char* name, const void* address, int dest, std::int64_t count, MPI_Datatype type,
                            int source, MPI_Comm comm, MPI_Request* request, Run run) {
  ObservedMessage out(name, address, dest, comm);
  ObservedMessage in(name, address, source, comm);
  const int code = run();
  if (code != MPI_SUCCESS) return code;
  out.sent_with_receive(count, type);
  in.received_later(*request);
  return code;
}
#endif

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

#define URAKATA_RECEIVES(Count, suffix)                                                                                \
  [[gnu::noinline]] static int in_space_Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source,         \
                                                     int tag, MPI_Comm comm, MPI_Status* status) {                     \
    const int code = receive(buffer, count, type, source, tag, comm, status);                                          \
    if (code != kNotOurs) return code;                                                                                 \
    need_native();                                                                                                     \
    return native.Recv##suffix(buffer, count, type, source, tag, comm, status);                                        \
  }                                                                                                                    \
  [[gnu::noinline]] static int observed_Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source,         \
                                                     int tag, MPI_Comm comm, MPI_Status* status) {                     \
    return observed_receive(                                                                                           \
        {"Recv" #suffix, caller(__builtin_return_address(0)), source, comm}, status,                                   \
        [&](MPI_Status* seen) { return in_space_Recv##suffix(buffer, count, type, source, tag, comm, seen); });        \
  }                                                                                                                    \
  URAKATA_MESSAGE_EXPORT int MPI_Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,       \
                                              MPI_Comm comm, MPI_Status* status) {                                     \
    if (native.message_path == MessagePath::native)                                                                    \
      return native.Recv##suffix(buffer, count, type, source, tag, comm, status);                                      \
    if (native.message_path == MessagePath::space)                                                                     \
      return in_space_Recv##suffix(buffer, count, type, source, tag, comm, status);                                    \
    return observed_Recv##suffix(buffer, count, type, source, tag, comm, status);                                      \
  }                                                                                                                    \
  [[gnu::noinline]] static int in_space_Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source,        \
                                                      int tag, MPI_Comm comm, MPI_Request* request) {                  \
    const int code = start_receive(buffer, count, type, source, tag, comm, request);                                   \
    if (code != kNotOurs) return code;                                                                                 \
    need_native();                                                                                                     \
    return native.Irecv##suffix(buffer, count, type, source, tag, comm, request);                                      \
  }                                                                                                                    \
  [[gnu::noinline]] static int observed_Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source,        \
                                                      int tag, MPI_Comm comm, MPI_Request* request) {                  \
    ObservedMessage message("Irecv" #suffix, caller(__builtin_return_address(0)), source, comm);                       \
    const int code = in_space_Irecv##suffix(buffer, count, type, source, tag, comm, request);                          \
    if (code == MPI_SUCCESS) message.received_later(*request);                                                         \
    return code;                                                                                                       \
  }                                                                                                                    \
  URAKATA_MESSAGE_EXPORT int MPI_Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,      \
                                               MPI_Comm comm, MPI_Request* request) {                                  \
    if (native.message_path == MessagePath::native)                                                                    \
      return native.Irecv##suffix(buffer, count, type, source, tag, comm, request);                                    \
    if (native.message_path == MessagePath::space)                                                                     \
      return in_space_Irecv##suffix(buffer, count, type, source, tag, comm, request);                                  \
    return observed_Irecv##suffix(buffer, count, type, source, tag, comm, request);                                    \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Recv_init##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,          \
                                           MPI_Comm comm, MPI_Request* request) {                                      \
    const int code = prepare_receive(buffer, count, type, source, tag, comm, request);                                 \
    if (code == MPI_SUCCESS && native.message_path == MessagePath::observed)                                           \
      ObservedMessage("Recv_init" #suffix, caller(__builtin_return_address(0)), source, comm).prepared(*request);      \
    if (code != kNotOurs) return code;                                                                                 \
    need_native();                                                                                                     \
    return native.Recv_init##suffix(buffer, count, type, source, tag, comm, request);                                  \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Sendrecv##suffix(const void* out, Count out_count, MPI_Datatype out_type, int dest,           \
                                          int out_tag, void* in, Count in_count, MPI_Datatype in_type, int source,     \
                                          int in_tag, MPI_Comm comm, MPI_Status* status) {                             \
    const auto run = [&](MPI_Status* seen) {                                                                           \
      Exchange both{{out, out_count, out_type, dest, out_tag}, comm, false, {}, {}};                                   \
      if (exchanging({in, in_count, in_type, source, in_tag}, both)) return exchange_now(both, seen);                  \
      need_native();                                                                                                   \
      return native.Sendrecv##suffix(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag,   \
                                     comm, seen);                                                                      \
    };                                                                                                                 \
    if (native.message_path != MessagePath::observed) return run(status);                                              \
    return observed_exchange("Sendrecv" #suffix, caller(__builtin_return_address(0)), dest, out_count, out_type,       \
                             source, comm, status, run);                                                               \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Sendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest, int out_tag, \
                                                  int source, int in_tag, MPI_Comm comm, MPI_Status* status) {         \
    const auto run = [&](MPI_Status* seen) {                                                                           \
      Exchange both{{buffer, count, type, dest, out_tag}, comm, true, {}, {}};                                         \
      if (exchanging({buffer, count, type, source, in_tag}, both)) return exchange_now(both, seen);                    \
      need_native();                                                                                                   \
      return native.Sendrecv_replace##suffix(buffer, count, type, dest, out_tag, source, in_tag, comm, seen);          \
    };                                                                                                                 \
    if (native.message_path != MessagePath::observed) return run(status);                                              \
    return observed_exchange("Sendrecv_replace" #suffix, caller(__builtin_return_address(0)), dest, count, type,       \
                             source, comm, status, run);                                                               \
  }                                                                                                                    \
  int PMPI_Recv##suffix(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) URAKATA_ALIAS(MPI_Recv##suffix);  \
  int PMPI_Irecv##suffix(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)                                 \
      URAKATA_ALIAS(MPI_Irecv##suffix);                                                                                \
  int PMPI_Recv_init##suffix(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)                             \
      URAKATA_ALIAS(MPI_Recv_init##suffix);                                                                            \
  int PMPI_Sendrecv##suffix(const void*, Count, MPI_Datatype, int, int, void*, Count, MPI_Datatype, int, int,          \
                            MPI_Comm, MPI_Status*) URAKATA_ALIAS(MPI_Sendrecv##suffix);                                \
  int PMPI_Sendrecv_replace##suffix(void*, Count, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status*)             \
      URAKATA_ALIAS(MPI_Sendrecv_replace##suffix);

#define URAKATA_IMMEDIATE_EXCHANGES(Count, suffix)                                                                    \
  URAKATA_EXPORT int MPI_Isendrecv##suffix(const void* out, Count out_count, MPI_Datatype out_type, int dest,         \
                                           int out_tag, void* in, Count in_count, MPI_Datatype in_type, int source,   \
                                           int in_tag, MPI_Comm comm, MPI_Request* request) {                         \
    const auto run = [&] {                                                                                            \
      Exchange both{{out, out_count, out_type, dest, out_tag}, comm, false, {}, {}};                                  \
      if (request != nullptr && exchanging({in, in_count, in_type, source, in_tag}, both))                            \
        return exchange_later(both, request);                                                                         \
      need_native();                                                                                                  \
      return native.Isendrecv##suffix(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag, \
                                      comm, request);                                                                 \
    };                                                                                                                \
    if (native.message_path != MessagePath::observed) return run();                                                   \
    return observed_exchange_later("Isendrecv" #suffix, caller(__builtin_return_address(0)), dest, out_count,         \
                                   out_type, source, comm, request, run);                                             \
  }                                                                                                                   \
  URAKATA_EXPORT int MPI_Isendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest,            \
                                                   int out_tag, int source, int in_tag, MPI_Comm comm,                \
                                                   MPI_Request* request) {                                            \
    const auto run = [&] {                                                                                            \
      Exchange both{{buffer, count, type, dest, out_tag}, comm, true, {}, {}};                                        \
      if (request != nullptr && exchanging({buffer, count, type, source, in_tag}, both))                              \
        return exchange_later(both, request);                                                                         \
      need_native();                                                                                                  \
      return native.Isendrecv_replace##suffix(buffer, count, type, dest, out_tag, source, in_tag, comm, request);     \
    };                                                                                                                \
    if (native.message_path != MessagePath::observed) return run();                                                   \
    return observed_exchange_later("Isendrecv_replace" #suffix, caller(__builtin_return_address(0)), dest, count,     \
                                   type, source, comm, request, run);                                                 \
  }                                                                                                                   \
  int PMPI_Isendrecv##suffix(const void*, Count, MPI_Datatype, int, int, void*, Count, MPI_Datatype, int, int,        \
                             MPI_Comm, MPI_Request*) URAKATA_ALIAS(MPI_Isendrecv##suffix);                            \
  int PMPI_Isendrecv_replace##suffix(void*, Count, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request*)          \
      URAKATA_ALIAS(MPI_Isendrecv_replace##suffix);

URAKATA_RECEIVES(int, )
#if defined(URAKATA_LARGE_COUNTS)
URAKATA_RECEIVES(MPI_Count, _c)
URAKATA_IMMEDIATE_EXCHANGES(int, )
URAKATA_IMMEDIATE_EXCHANGES(MPI_Count, _c)
#endif

}  // extern "C"
