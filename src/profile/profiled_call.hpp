// SPDX-License-Identifier: BSD-3-Clause
// One MPI call of the program, from the first line of its entry point to the last.
//
// Contract: a call is noted in the profile between the return of MPI_Init and the beginning of MPI_Finalize. Calls
// inside another call are not noted, whether the MPI library makes them or a callback of the program. Every call goes
// on to the function behind the profile. An object is used by the thread that makes the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>

#include "observe/call_profile.hpp"
#include "observe/profile_link.hpp"
#include "profile/time_line.hpp"
#include "shim/native/abi.hpp"

namespace urakata::profile {

// Whether a function only starts or prepares an operation. A message that comes during such a call would have come
// without it. In all other calls the program spends its time on communication, so they count as waiting.
constexpr bool starts(std::string_view name) {
  if (name.starts_with("ura_")) return name == "ura_start" || name == "ura_halo_begin";
  for (const std::string_view other : {"Info", "Init", "Intercomm", "Iprobe", "Improbe"}) {
    if (name.starts_with(other)) return false;
  }
  return name.starts_with('I') || name.starts_with("Start") || name.starts_with("Pready") || name.ends_with("_init") ||
         name.ends_with("_init_c");
}
static_assert(starts("Iallreduce") && starts("Ineighbor_alltoall_c") && starts("Startall") && starts("Send_init"));
static_assert(starts("ura_start") && !starts("ura_halo_end") && !starts("ura_halo_ready"));
static_assert(!starts("Wait") && !starts("Test") && !starts("Iprobe") && !starts("Intercomm_merge") && !starts("Send"));

// A function of MPI, or of urakata.h.
struct Function {
  const char* name;                  // without MPI_; of urakata.h with ura_
  bool waits = !starts(name);        // whether a call counts as waiting
  std::atomic<void*> next{nullptr};  // the function behind the profile; nullptr before the first call
};

class ProfiledCall {
 public:
  // `address`: the call's return address.
  ProfiledCall(Function& function, const void* address);
  ~ProfiledCall();
  ProfiledCall(const ProfiledCall&) = delete;
  ProfiledCall& operator=(const ProfiledCall&) = delete;

  // The function behind the profile. nullptr: neither Urakata nor the MPI library has it.
  template <class Type>
  Type next() {
    void* found = function_.next.load(std::memory_order_relaxed);
    if (found == nullptr) found = look_up();
    return reinterpret_cast<Type>(found);
  }

  // The function behind the profile has returned. Notes the end of the call, unless the shim has noted it already.
  // Returns whether the call is noted in the profile.
  bool ended();
  void moved(std::uint64_t bytes) { bytes_ = bytes; }

  // Whether the call is in a time line. If so, line() calls `tell` with that time line. If memory runs out, the time
  // line lacks some of what `tell` adds.
  bool lined() const { return line_ != nullptr; }
  template <class Tell>
  void line(Tell tell) {
    try {
      tell(*line_);
    } catch (const std::bad_alloc&) {  // the program's call goes on
    }
  }
  std::uint64_t began_at() const { return begin_; }
  std::uint64_t ended_at() const { return thread_.end; }
  void collective(MPI_Comm comm) { collective_ = comm; }
  void in_vain() { in_vain_ = true; }  // a test without success: not in the time line, as thousands may follow in a row

 private:
  void* look_up();
  void add_to_line(std::uint32_t record);

  Function& function_;
  const void* const address_;
  observe::ProfiledThread& thread_;
  const void* before_ = nullptr;    // ProfiledThread::caller of the call around this one; nullptr: none
  std::uint64_t before_begin_ = 0;  // ProfiledThread::begin of the call around this one
  std::uint64_t begin_ = 0;
  observe::CallRecord* record_ = nullptr;  // nullptr: the call is not noted
  TimeLine* line_ = nullptr;
  std::optional<MPI_Comm> collective_;  // communicator, if the call is a collective that the time line numbers
  bool in_vain_ = false;
  std::uint64_t bytes_ = observe::CallProfile::kNotKnown;
};

extern std::atomic<TimeLine*> time_line;  // the process's time line; nullptr: none

// The time line forgets a handle that ends, or that the MPI library has given to an operation of another kind. Also for
// calls inside others.
inline void forget(MPI_Request request) {
  if (TimeLine* const line = time_line.load(std::memory_order_acquire)) line->forget(request);
}
inline void forget_members(const MPI_Comm* comm) {
  TimeLine* const line = time_line.load(std::memory_order_acquire);
  if (line != nullptr && comm != nullptr) line->forget_members(*comm);
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);  // payload of `count` elements
std::uint64_t ranks_of(MPI_Comm comm);  // size; of an intercommunicator, the size of the remote group

}  // namespace urakata::profile
