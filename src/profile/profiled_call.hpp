// SPDX-License-Identifier: BSD-3-Clause
// One call of the program's to MPI, from its entry point's first line to its last.
//
// Contract. Of calls inside another (MPI's own, and those of the program's callbacks) nothing is noted, and none before
// MPI_Init has returned or after MPI_Finalize has begun: those pass on. A thread's calls are seen by that thread; what
// they add up to by all (CallProfile).
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

// Does it start or prepare something? What it takes from the network on the way had come without it. Every other call
// looks after what was started, so what comes in it comes in time that the program spends on it.
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

// A function of MPI's, or of urakata.h.
struct Function {
  const char* name;  // without MPI_; of urakata.h with ura_
  bool waits = !starts(name);
  std::atomic<void*> next{nullptr};  // where its calls go on; found at the first
};

class ProfiledCall {
 public:
  // `address`: the call's return address.
  ProfiledCall(Function& function, const void* address);
  ~ProfiledCall();
  ProfiledCall(const ProfiledCall&) = delete;
  ProfiledCall& operator=(const ProfiledCall&) = delete;

  // nullptr: neither Urakata nor the MPI library has it.
  template <class Type>
  Type next() {
    void* found = function_.next.load(std::memory_order_relaxed);
    if (found == nullptr) found = look_up();
    return reinterpret_cast<Type>(found);
  }

  // It has returned. False: nothing more is to be told of it.
  bool ended();
  void moved(std::uint64_t bytes) { bytes_ = bytes; }

  // Is the call in a time line? Then, once it has ended, `tell` is called with that; where there is no memory for it
  // the time line lacks something.
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
  void in_vain() { in_vain_ = true; }  // a test of something that is not there yet: there may be thousands in a row

 private:
  void* look_up();
  void add_to_line(std::uint32_t record);

  Function& function_;
  const void* const address_;
  observe::ProfiledThread& thread_;
  const void* before_ = nullptr;    // of a call that this one is inside of
  std::uint64_t before_begin_ = 0;  // its begin, as the thread has it
  std::uint64_t begin_ = 0;
  observe::CallRecord* record_ = nullptr;  // nullptr: it is not noted
  TimeLine* line_ = nullptr;
  std::optional<MPI_Comm> collective_;  // on which it is a collective
  bool in_vain_ = false;
  std::uint64_t bytes_ = observe::CallProfile::kNotKnown;
};

extern std::atomic<TimeLine*> time_line;  // of the process; nullptr: none was asked for

// Handles that are gone, or given to something that the time line is not told of; also in calls inside others.
inline void forget(MPI_Request request) {
  if (TimeLine* const line = time_line.load(std::memory_order_acquire)) line->forget(request);
}
inline void forget_members(const MPI_Comm* comm) {
  TimeLine* const line = time_line.load(std::memory_order_acquire);
  if (line != nullptr && comm != nullptr) line->forget_members(*comm);
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type);
std::uint64_t ranks_of(MPI_Comm comm);  // to which a collective on it sends

}  // namespace urakata::profile
