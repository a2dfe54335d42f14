// SPDX-License-Identifier: BSD-3-Clause
// The calls that make communicators, and the one that revokes them. The MPI library performs them. Urakata then notes
// each new communicator, with its contexts, endpoint communicator and channel set (communicator_origin.hpp).
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/communicator_origin.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/native/entries.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"

namespace urakata::shim {
namespace {

// Communicators that the MPI library makes for itself (MPI-IO) stay its own.
int child_of(MPI_Comm parent, int code, const MPI_Comm* made, const void* site) {
  if (code == MPI_SUCCESS && made != nullptr && !inside_native(site)) note_child(parent, *made);
  return code;
}

int made_alone(int code, const MPI_Comm* made, const void* site) {
  if (code == MPI_SUCCESS && made != nullptr && !inside_native(site)) note_made(*made);
  return code;
}

}  // namespace
}  // namespace urakata::shim

// `parameters` and the arguments are those without the new communicator. URAKATA_MAKER: calls that all ranks of `comm`
// make. URAKATA_MAKER_ALONE: calls that only the ranks of the new communicator make.
#define URAKATA_MAKER(name, parameters, ...)                                                          \
  URAKATA_EXPORT int MPI_##name(URAKATA_UNWRAP parameters, MPI_Comm* made) {                          \
    need_native();                                                                                    \
    return child_of(comm, native.name(__VA_ARGS__, made), made, caller(__builtin_return_address(0))); \
  }                                                                                                   \
  int PMPI_##name(URAKATA_UNWRAP parameters, MPI_Comm* made) URAKATA_ALIAS(MPI_##name);
#define URAKATA_MAKER_ALONE(name, parameters, ...)                                                \
  URAKATA_EXPORT int MPI_##name(URAKATA_UNWRAP parameters, MPI_Comm* made) {                      \
    need_native();                                                                                \
    return made_alone(native.name(__VA_ARGS__, made), made, caller(__builtin_return_address(0))); \
  }                                                                                               \
  int PMPI_##name(URAKATA_UNWRAP parameters, MPI_Comm* made) URAKATA_ALIAS(MPI_##name);
#define URAKATA_UNWRAP(...) __VA_ARGS__

extern "C" {

using namespace urakata::shim;

URAKATA_MAKER(Comm_dup, (MPI_Comm comm), comm)
URAKATA_MAKER(Comm_split, (MPI_Comm comm, int colour, int key), comm, colour, key)
URAKATA_MAKER(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info), comm, type, key, info)
URAKATA_MAKER(Comm_create, (MPI_Comm comm, MPI_Group group), comm, group)
URAKATA_MAKER_ALONE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag), comm, group, tag)
URAKATA_MAKER(Cart_create, (MPI_Comm comm, int n, const int* sizes, const int* periods, int reorder), comm, n, sizes,
              periods, reorder)
URAKATA_MAKER(Cart_sub, (MPI_Comm comm, const int* remain), comm, remain)
URAKATA_MAKER(Graph_create, (MPI_Comm comm, int n, const int* index, const int* edges, int reorder), comm, n, index,
              edges, reorder)
URAKATA_MAKER(Dist_graph_create,
              (MPI_Comm comm, int n, const int* sources, const int* degrees, const int* destinations,
               const int* weights, MPI_Info info, int reorder),
              comm, n, sources, degrees, destinations, weights, info, reorder)
URAKATA_MAKER(Dist_graph_create_adjacent,
              (MPI_Comm comm, int in_degree, const int* sources, const int* in_weights, int out_degree,
               const int* destinations, const int* out_weights, MPI_Info info, int reorder),
              comm, in_degree, sources, in_weights, out_degree, destinations, out_weights, info, reorder)
URAKATA_MAKER_ALONE(Intercomm_merge, (MPI_Comm comm, int high), comm, high)

// Of fault tolerance (ULFM). No standard header declares it.
URAKATA_EXPORT int MPIX_Comm_revoke(MPI_Comm comm) {
  need_native();
  if (native.Comm_revoke == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const int code = native.Comm_revoke(comm);
  Communicator* const known = code == MPI_SUCCESS && endpoint() != nullptr ? communicator(comm) : nullptr;
  if (known != nullptr && known->direct_collectives() != nullptr) known->direct_collectives()->revoke();
  return code;
}
int PMPIX_Comm_revoke(MPI_Comm comm) URAKATA_ALIAS(MPIX_Comm_revoke);

URAKATA_EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  need_native();
  const int code =
      child_of(comm, native.Comm_dup_with_info(comm, info, made), made, caller(__builtin_return_address(0)));
  if (code == MPI_SUCCESS && made != nullptr) note_assertions(*made, info);
  return code;
}
int PMPI_Comm_dup_with_info(MPI_Comm, MPI_Info, MPI_Comm*) URAKATA_ALIAS(MPI_Comm_dup_with_info);

}  // extern "C"
