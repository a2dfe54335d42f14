// SPDX-License-Identifier: BSD-3-Clause
// What the preload library of the profile (src/profile/) gets from the shim, which lies behind it: both are loaded by
// the dynamic linker, and meet by the name of one function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace urakata::observe {

// A thread's call, as both sides see it. The shim sees the profile as its caller; and a time that one side has read the
// other need not read again, which is most of what observing costs.
struct ProfiledThread {
  const void* caller = nullptr;  // the return address in the program; nullptr: the thread is in no call
  const void* frame = nullptr;   // where on the stack the outermost call is; what lies above has been left by longjmp
  std::uint64_t begin = 0;       // of the call; 0: the profile does not note it
  std::uint64_t end = 0;         // what the shim read last, with nothing left to do; 0: it has not
  std::uint64_t past = 0;        // ns in earlier calls that the profile has noted

  // ns in calls until `now`.
  std::uint64_t in_calls(std::uint64_t now) const { return past + (begin != 0 ? now - begin : 0); }
};

struct ProfileLink {
  // Where a call of MPI_NAME, or of ura_NAME with its whole name, goes on behind the profile: Urakata's own, else the
  // MPI library's; nullptr: neither has it.
  void* (*find)(const char* name);
  ProfiledThread* (*thread)();  // the calling one's
  // Is there a report of this rank? Known when MPI_Init has returned.
  bool (*reported)();
  // The profile's word, which lives on with the process: not zero while the program is in a call other than one that
  // starts something; of several threads it is the one that has begun or ended such a call last.
  void (*waiting)(const std::atomic<std::uint32_t>& word);
  // In MPI_COMM_WORLD, between MPI_Init and MPI_Finalize.
  void (*rank)(int* rank, int* ranks);
  std::uint32_t (*job)();    // tells this job's files from another's; 0: not known
  const char* (*program)();  // its command line
  const char* (*file)();     // path of its own file; empty: unknown
  // Of the communicator at this place (MPI_Comm*): a number that all its ranks have for it, and for no other one. 0:
  // the shim does not know it.
  std::uint64_t (*communicator)(const void* handle);
  // The ranks of MPI_COMM_WORLD that are in it, by rank, to `world`, which has room for so many; how many they are: 0
  // for intercommunicators, and where one is in no MPI_COMM_WORLD of ours.
  std::size_t (*members)(const void* handle, std::int32_t* world, std::size_t room);
  std::uint64_t (*bytes)(const void* status);  // that have come, of an MPI_Status*
};

inline constexpr const char* kProfileLink = "urakata_profile_link";  // const ProfileLink* urakata_profile_link()

}  // namespace urakata::observe
