// SPDX-License-Identifier: BSD-3-Clause
// Fortran's integers for requests and matched messages. Open MPI's Fortran wrappers convert each handle, and so does
// the standard ABI; MPICH's use the integer itself.
#ifndef URAKATA_ABI_MPICH
#include <cstring>

#include "shim/native/entries.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {
namespace {

template <class Integer>
Integer integer_of(MPI_Request request, Integer (*theirs)(MPI_Request)) {
  if (!is_ours(request)) return theirs(request);
  const Request* ours = find_request(request);
  return ours != nullptr ? kFortranBase + static_cast<Integer>(ours->index) : theirs(MPI_REQUEST_NULL);
}
template <class Integer>
Integer integer_of(MPI_Message message, Integer (*theirs)(MPI_Message)) {
  const Request* holder = holder_of(message);
  return holder != nullptr ? kFortranBase + static_cast<Integer>(holder->index) : theirs(message);
}

template <class Handle, class Integer>
Handle handle_from(Integer integer, Handle (*theirs)(Integer)) {
  if (!is_fortran_of_ours(integer)) return theirs(integer);
  const MPI_Request request = request_of_fortran(integer);
  Handle handle{};
  std::memcpy(&handle, &request, sizeof handle);
  return handle;
}

}  // namespace
}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

#define URAKATA_INTEGERS(Handle, to, from, Integer)            \
  URAKATA_EXPORT Integer MPI_##to(Handle handle) {             \
    need_native();                                             \
    return integer_of<Integer>(handle, native.to);             \
  }                                                            \
  URAKATA_EXPORT Handle MPI_##from(Integer integer) {          \
    need_native();                                             \
    return handle_from<Handle, Integer>(integer, native.from); \
  }                                                            \
  Integer PMPI_##to(Handle handle) URAKATA_ALIAS(MPI_##to);    \
  Handle PMPI_##from(Integer integer) URAKATA_ALIAS(MPI_##from);

#ifdef URAKATA_ABI_OPENMPI
URAKATA_INTEGERS(MPI_Request, Request_c2f, Request_f2c, MPI_Fint)
URAKATA_INTEGERS(MPI_Message, Message_c2f, Message_f2c, MPI_Fint)
#else  // the standard ABI
URAKATA_INTEGERS(MPI_Request, Request_toint, Request_fromint, int)
URAKATA_INTEGERS(MPI_Message, Message_toint, Message_fromint, int)
#endif

}  // extern "C"
#endif
