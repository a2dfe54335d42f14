// The host MPI: its functions under their PMPI_ names, found at run time. The preload library links to no libmpi.
//
// Thread-safety: `host` is filled once, before the program's first MPI call returns, and constant from then on.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/abi.hpp"
#include "shim/host_collectives.hpp"  // generated from functions.py: URAKATA_HOST_COLLECTIVES and its like

// clang-format off
// Functions that every host has.
#define URAKATA_HOST_CALLS(X)                                                                                          \
  X(Init_thread) X(Abort) X(Finalize) X(Finalized) X(Query_thread) X(Get_library_version) X(Wait)                               \
      X(Waitany) X(Waitall) X(Waitsome) X(Test) X(Testany) X(Testall) X(Testsome) X(Request_free)                      \
          X(Request_get_status) X(Cancel) X(Start) X(Startall) X(Isend) X(Irecv) X(Pack) X(Unpack) X(Reduce_local) X(Get_elements_x)     \
              X(Comm_dup) X(Comm_free) X(Comm_disconnect) X(Comm_rank) X(Comm_size) X(Comm_test_inter) X(Comm_group)   \
                  X(Comm_call_errhandler) X(Comm_set_errhandler) X(Comm_get_attr) X(Comm_split_type) X(Comm_set_info)  \
                      X(Group_translate_ranks) X(Group_free) X(Type_size_x)                               \
                          X(Type_get_extent_x) X(Type_get_true_extent_x) X(Type_get_envelope) X(Type_get_contents) X(Type_contiguous) \
                              X(Type_create_struct) X(Type_indexed) X(Type_dup) X(Type_commit) X(Type_free) X(Op_commutative) X(Op_free)           \
                                  X(Info_get)

// The program's own messages and communicators.
#define URAKATA_HOST_MESSAGES(X)                                                                                       \
  X(Send)                                                                                                              \
  X(Recv) X(Ssend) X(Rsend) X(Bsend) X(Issend) X(Irsend) X(Ibsend) X(Send_init) X(Ssend_init) X(Rsend_init) X(Bsend_init)      \
      X(Recv_init) X(Sendrecv) X(Sendrecv_replace) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv)  \
          X(Status_set_elements_x) X(Status_set_cancelled) X(Comm_dup_with_info) X(Comm_split) X(Comm_create)          \
              X(Comm_create_group) X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create)                     \
                  X(Dist_graph_create_adjacent) X(Intercomm_merge) X(Topo_test) X(Cartdim_get) X(Cart_shift)            \
                      X(Graph_neighbors_count) X(Graph_neighbors) X(Dist_graph_neighbors_count)                        \
                          X(Dist_graph_neighbors)

// Functions that some hosts or headers lack: nullptr then.
#if MPI_VERSION >= 4
#define URAKATA_LARGE_COUNTS 1
#define URAKATA_HOST_LARGE(X)                                                                                          \
  X(Type_get_envelope_c) X(Type_get_contents_c) X(Pack_c) X(Unpack_c) X(Isend_c) X(Irecv_c)
#define URAKATA_HOST_LARGE_MESSAGES(X)                                                                                 \
  X(Isendrecv)                                                                                                         \
  X(Isendrecv_replace) X(Isendrecv_c) X(Isendrecv_replace_c) X(Send_c) X(Ssend_c) X(Rsend_c) X(Bsend_c) X(Issend_c)    \
      X(Irsend_c) X(Ibsend_c) X(Send_init_c) X(Ssend_init_c) X(Rsend_init_c) X(Bsend_init_c) X(Recv_c) X(Recv_init_c)  \
          X(Sendrecv_c) X(Sendrecv_replace_c) X(Mrecv_c) X(Imrecv_c)
#else
#define URAKATA_HOST_LARGE(X)
#define URAKATA_HOST_LARGE_MESSAGES(X)
#endif

// MPI 4.1.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define URAKATA_STATUS_QUERIES 1
#define URAKATA_HOST_QUERIES(X) X(Request_get_status_any) X(Request_get_status_all) X(Request_get_status_some)
#else
#define URAKATA_HOST_QUERIES(X)
#endif

// Fortran's integers for requests: functions in Open MPI and Intel MPI, macros or other names elsewhere.
#if defined(URAKATA_ABI_STANDARD)
#define URAKATA_HOST_FORTRAN(X) X(Request_toint) X(Request_fromint) X(Message_toint) X(Message_fromint)
#elif defined(URAKATA_ABI_OPENMPI)
#define URAKATA_HOST_FORTRAN(X) X(Request_c2f) X(Request_f2c) X(Message_c2f) X(Message_f2c)
#else
#define URAKATA_HOST_FORTRAN(X)
#endif

// clang-format on

namespace urakata::shim {

// Where the entry points of messages go.
enum class MessagePath : std::uint8_t {
  space,     // this process has an endpoint, or the host is not found yet
  host,      // straight to the host
  observed,  // either, and the report is told
};

struct alignas(64) Host {
  bool found = false;
  // Beside what the entry points of messages jump to where it is the host's: after a system call (a copy by the kernel)
  // each cache line and page that a call touches has to come anew.
  MessagePath message_path = MessagePath::space;
  // Something has been loaded that nobody has looked at yet, or a driver of devices is there: devices.hpp. On this line
  // since all that take buffers read it.
  std::atomic<bool> may_have_devices{true};
#define URAKATA_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  URAKATA_HOST_MESSAGES(URAKATA_MEMBER)
  URAKATA_HOST_CALLS(URAKATA_MEMBER)
  URAKATA_HOST_COLLECTIVES(URAKATA_MEMBER)
  URAKATA_HOST_PERSISTENT(URAKATA_MEMBER)
  URAKATA_HOST_LARGE(URAKATA_MEMBER)
  URAKATA_HOST_LARGE_COLLECTIVES(URAKATA_MEMBER)
  URAKATA_HOST_LARGE_MESSAGES(URAKATA_MEMBER)
  URAKATA_HOST_QUERIES(URAKATA_MEMBER)
  URAKATA_HOST_FORTRAN(URAKATA_MEMBER)
#undef URAKATA_MEMBER

  // Lets a function be called from within the host's own waiting, so that our instances move while the program is
  // blocked in a call that we do not handle. Open MPI has it; nullptr elsewhere.
  int (*progress_register)(int (*callback)()) = nullptr;
  int (*progress_unregister)(int (*callback)()) = nullptr;
  // Whether the host gives the core away in a poll that finds nothing; returns what it was. Open MPI has it.
  bool (*set_yield_when_idle)(bool yield) = nullptr;

  // The request of a send that is done when MPI_Isend returns. Open MPI has one for all of them; nullptr elsewhere.
  void* done_request = nullptr;
};

extern Host host;

// Looks the host up; ends the process with a message if there is none or one of another ABI. Called by every entry
// point that may be the first (host.found says that it was done).
void find_host();

// Is the address inside the host's own libraries? MPI-IO, for one, calls MPI through the public names; such calls are
// the host's business and pass untouched. Fortran bindings are not the host in this sense. Cheap when seen before.
bool inside_host(const void* address);

}  // namespace urakata::shim
