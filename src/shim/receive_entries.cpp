// MPI_Recv, MPI_Irecv, MPI_Recv_init, MPI_Sendrecv and MPI_Sendrecv_replace.
#include "shim/entries.hpp"
#include "shim/host.hpp"
#include "shim/message.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"

namespace urakata::shim {
namespace {

// The two halves of a Sendrecv; either may be with MPI_PROC_NULL.
struct Exchange {
  Letter send;
  Letter receive;
  bool sends = false;
  bool receives = false;
};

struct Side {
  const void* address;
  std::int64_t count;
  MPI_Datatype type;
  int peer;
  int tag;
};

// True: the space carries it. Where both peers are MPI_PROC_NULL, or an argument is wrong, it is the host's.
bool exchanging(const Side& out, const Side& in, MPI_Comm comm, p2p::Mode mode, Exchange& both) {
  both.sends = out.peer != MPI_PROC_NULL;
  both.receives = in.peer != MPI_PROC_NULL;
  if (!both.sends && !both.receives) return false;
  if (both.sends && !outgoing(out.address, out.count, out.type, out.peer, out.tag, comm, mode, both.send)) return false;
  return !both.receives ||
         incoming(const_cast<void*>(in.address), in.count, in.type, in.peer, in.tag, comm, both.receive);
}

// The send is on its way before the receive waits.
int exchange_now(const Exchange& both, MPI_Status* status) {
  p2p::Endpoint& here = *endpoint();
  const Letter& send = both.send;
  p2p::Request* out = both.sends ? here.send(*send.to, send.envelope, send.buffer, send.mode) : nullptr;
  if (out != nullptr) hold(send.buffer);
  int code = MPI_SUCCESS;
  if (both.receives) {
    code = receive_now(both.receive, status);
  } else {
    host.Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status);
  }
  if (out != nullptr) {
    if (send.mode != p2p::Mode::buffered) here.wait(*out);
    give_back(*out);
  }
  return code;
}

#if defined(URAKATA_LARGE_COUNTS)  // MPI 4, which also has MPI_Isendrecv
// A request for the receive, which also holds the send; for the send alone where there is no receive.
int exchange_later(const Exchange& both, MPI_Request* handle) {
  Request& request = make_message(both.receives ? both.receive : both.send, !both.receives);
  if (both.receives) {
    request.persistent = false;
    if (both.sends) send_beside(request, both.send);
    start_message(request);
  }
  *handle = request.handle();
  return MPI_SUCCESS;
}
#endif

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;
using urakata::p2p::Mode;

#define URAKATA_RECEIVES(Count, suffix)                                                                                \
  URAKATA_EXPORT int MPI_Recv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,               \
                                      MPI_Comm comm, MPI_Status* status) {                                             \
    Letter letter;                                                                                                     \
    if (incoming(buffer, count, type, source, tag, comm, letter)) return receive_now(letter, status);                  \
    need_host();                                                                                                       \
    return host.Recv##suffix(buffer, count, type, source, tag, comm, status);                                          \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Irecv##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,              \
                                       MPI_Comm comm, MPI_Request* request) {                                          \
    Letter letter;                                                                                                     \
    if (request != nullptr && incoming(buffer, count, type, source, tag, comm, letter)) {                              \
      *request = make_message(letter, true).handle();                                                                  \
      return MPI_SUCCESS;                                                                                              \
    }                                                                                                                  \
    need_host();                                                                                                       \
    return host.Irecv##suffix(buffer, count, type, source, tag, comm, request);                                        \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Recv_init##suffix(void* buffer, Count count, MPI_Datatype type, int source, int tag,          \
                                           MPI_Comm comm, MPI_Request* request) {                                      \
    Letter letter;                                                                                                     \
    if (request != nullptr && incoming(buffer, count, type, source, tag, comm, letter)) {                              \
      *request = make_message(letter, false).handle();                                                                 \
      return MPI_SUCCESS;                                                                                              \
    }                                                                                                                  \
    need_host();                                                                                                       \
    return host.Recv_init##suffix(buffer, count, type, source, tag, comm, request);                                    \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Sendrecv##suffix(const void* out, Count out_count, MPI_Datatype out_type, int dest,           \
                                          int out_tag, void* in, Count in_count, MPI_Datatype in_type, int source,     \
                                          int in_tag, MPI_Comm comm, MPI_Status* status) {                             \
    Exchange both;                                                                                                     \
    if (exchanging({out, out_count, out_type, dest, out_tag}, {in, in_count, in_type, source, in_tag}, comm,           \
                   Mode::standard, both)) {                                                                            \
      return exchange_now(both, status);                                                                               \
    }                                                                                                                  \
    need_host();                                                                                                       \
    return host.Sendrecv##suffix(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag, comm, \
                                 status);                                                                              \
  }                                                                                                                    \
  URAKATA_EXPORT int MPI_Sendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest, int out_tag, \
                                                  int source, int in_tag, MPI_Comm comm, MPI_Status* status) {         \
    Exchange both;                                                                                                     \
    if (exchanging({buffer, count, type, dest, out_tag}, {buffer, count, type, source, in_tag}, comm, Mode::buffered,  \
                   both)) {                                                                                            \
      return exchange_now(both, status);                                                                               \
    }                                                                                                                  \
    need_host();                                                                                                       \
    return host.Sendrecv_replace##suffix(buffer, count, type, dest, out_tag, source, in_tag, comm, status);            \
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
    Exchange both;                                                                                                    \
    if (request != nullptr && exchanging({out, out_count, out_type, dest, out_tag},                                   \
                                         {in, in_count, in_type, source, in_tag}, comm, Mode::standard, both)) {      \
      return exchange_later(both, request);                                                                           \
    }                                                                                                                 \
    need_host();                                                                                                      \
    return host.Isendrecv##suffix(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag,     \
                                  comm, request);                                                                     \
  }                                                                                                                   \
  URAKATA_EXPORT int MPI_Isendrecv_replace##suffix(void* buffer, Count count, MPI_Datatype type, int dest,            \
                                                   int out_tag, int source, int in_tag, MPI_Comm comm,                \
                                                   MPI_Request* request) {                                            \
    Exchange both;                                                                                                    \
    if (request != nullptr && exchanging({buffer, count, type, dest, out_tag}, {buffer, count, type, source, in_tag}, \
                                         comm, Mode::buffered, both)) {                                               \
      return exchange_later(both, request);                                                                           \
    }                                                                                                                 \
    need_host();                                                                                                      \
    return host.Isendrecv_replace##suffix(buffer, count, type, dest, out_tag, source, in_tag, comm, request);         \
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
