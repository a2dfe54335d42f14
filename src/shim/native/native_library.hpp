// SPDX-License-Identifier: BSD-3-Clause
// The MPI library: its functions under their PMPI_ names, found at run time. The preload library links to no libmpi.
//
// Thread-safety: find_native() fills `native` in the program's first MPI call. Its function pointers are constant from
// then on. message_path is written in MPI_Init and MPI_Finalize, may_have_devices by any thread. Functions: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/native/abi.hpp"
#include "shim/native_functions.hpp"  // generated from functions.py: URAKATA_HOST_FUNCTIONS

// Functions with counts of MPI_Count, and MPI_Isendrecv.
#if MPI_VERSION >= 4
#define URAKATA_LARGE_COUNTS 1
#endif
// MPI_Request_get_status_all, _any and _some: MPI 4.1.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define URAKATA_STATUS_QUERIES 1
#endif

namespace urakata::shim {

// How the entry points of the program's messages go on.
enum class MessagePath : std::uint8_t {
  space,     // this process has an endpoint, or the MPI library is not found yet
  native,    // straight to the MPI library
  observed,  // to the endpoint or to the MPI library, and the report is told
};

struct alignas(64) NativeLibrary {
  bool found = false;
  // Near the function pointers that the entry points of messages jump to: after a system call (a copy by the kernel),
  // each cache line and page that a call touches must be fetched again.
  MessagePath message_path = MessagePath::space;
  // Whether a driver of devices is loaded, or dlopen was called since look_for_devices() last looked
  // (process/devices.hpp). In this cache line since every call with a buffer reads it.
  std::atomic<bool> may_have_devices{true};
#define URAKATA_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  URAKATA_NATIVE_FUNCTIONS(URAKATA_MEMBER, URAKATA_MEMBER, URAKATA_MEMBER)
#undef URAKATA_MEMBER

  int (*Comm_revoke)(MPI_Comm comm) = nullptr;  // nullptr: the MPI library has no fault tolerance

  // Lets a function be called from within the MPI library's own waiting, so that our instances move while the program
  // is blocked in a call that we do not handle. Open MPI has it; nullptr elsewhere.
  int (*progress_register)(int (*callback)()) = nullptr;
  int (*progress_unregister)(int (*callback)()) = nullptr;
  // Sets whether the MPI library yields the core in a poll that finds nothing; returns the setting before. nullptr:
  // the MPI library has no such setting (only Open MPI has).
  bool (*set_yield_when_idle)(bool yield) = nullptr;

  // The request of a send that is done when MPI_Isend returns. Open MPI has one for all of them; nullptr elsewhere.
  void* done_request = nullptr;
};

// Hidden, as are all variables that fast paths read: with -fvisibility=hidden a mere declaration stays visible, and its
// address is fetched first.
[[gnu::visibility("hidden")]] extern NativeLibrary native;

// Looks up the MPI library. If none is loaded, or one of another ABI, prints a message and aborts the process. Called
// by need_native() (entries.hpp), unless native.found says that it was done.
void find_native();

// The MPI library's function or datum of this name; nullptr: it has none, or no MPI library is loaded.
void* native_symbol(const char* name);

// Whether the address is inside the MPI library's own libraries. MPI-IO, for one, calls MPI through the public names;
// such calls fall back. Fortran bindings are not the MPI library in this sense. Cheap for an address asked for before.
bool inside_native(const void* address);

}  // namespace urakata::shim
