// SPDX-License-Identifier: BSD-3-Clause
// The MPI library: its functions under their PMPI_ names, found at run time. The preload library links to no libmpi.
//
// Thread-safety: `native` is filled once, before the program's first MPI call returns, and constant from then on.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/native/abi.hpp"
#include "shim/native_functions.hpp"  // generated from functions.py: URAKATA_HOST_FUNCTIONS

// Functions with counts of MPI_Count, and MPI_Isendrecv.
#if MPI_VERSION >= 4
#define URAKATA_LARGE_COUNTS 1
#endif
// Status of several requests: MPI 4.1.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define URAKATA_STATUS_QUERIES 1
#endif

namespace urakata::shim {

// Where the entry points of messages go.
enum class MessagePath : std::uint8_t {
  space,     // this process has an endpoint, or the MPI library is not found yet
  native,    // straight to the MPI library
  observed,  // either, and the report is told
};

struct alignas(64) NativeLibrary {
  bool found = false;
  // Beside what the entry points of messages jump to where it is the MPI library's: after a system call (a copy by the
  // kernel) each cache line and page that a call touches has to come anew.
  MessagePath message_path = MessagePath::space;
  // Something has been loaded that nobody has looked at yet, or a driver of devices is there: devices.hpp. On this line
  // since all that take buffers read it.
  std::atomic<bool> may_have_devices{true};
#define URAKATA_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  URAKATA_NATIVE_FUNCTIONS(URAKATA_MEMBER, URAKATA_MEMBER, URAKATA_MEMBER)
#undef URAKATA_MEMBER

  // Lets a function be called from within the MPI library's own waiting, so that our instances move while the program
  // is blocked in a call that we do not handle. Open MPI has it; nullptr elsewhere.
  int (*progress_register)(int (*callback)()) = nullptr;
  int (*progress_unregister)(int (*callback)()) = nullptr;
  // Whether the MPI library gives the core away in a poll that finds nothing; returns what it was. Open MPI has it.
  bool (*set_yield_when_idle)(bool yield) = nullptr;

  // The request of a send that is done when MPI_Isend returns. Open MPI has one for all of them; nullptr elsewhere.
  void* done_request = nullptr;
};

// Hidden, as are all variables that fast paths read: with -fvisibility=hidden a mere declaration stays visible, and its
// address is fetched first.
[[gnu::visibility("hidden")]] extern NativeLibrary native;

// Looks the MPI library up; ends the process with a message if there is none or one of another ABI. Called by every
// entry point that may be the first (native.found says that it was done).
void find_native();

// The MPI library's function or datum of this name; nullptr: it has none.
void* native_symbol(const char* name);

// Is the address inside the MPI library's own libraries? MPI-IO, for one, calls MPI through the public names; such
// calls are the MPI library's business and pass untouched. Fortran bindings are not the MPI library in this sense.
// Cheap when seen before.
bool inside_native(const void* address);

}  // namespace urakata::shim
