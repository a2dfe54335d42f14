// SPDX-License-Identifier: BSD-3-Clause
// The interface that the profile library (src/profile/) gets from the shim. Both are preloaded, the profile library in
// front of the shim, and it finds the shim by the name of one function, kProfileLink.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace urakata::observe {

// What the profile library and the shim share about the MPI call that a thread is in. The shim would otherwise see the
// profile library as the caller; and a time that one of the two has read the other need not read again.
struct ProfiledThread {
  const void* caller = nullptr;  // the return address in the program; nullptr: the thread is in no call
  const void* frame = nullptr;   // stack address of the outermost call; longjmp left that if a new call is not below
  std::uint64_t begin = 0;       // when the call began; 0: the profile does not note the call
  std::uint64_t end = 0;         // when the shim had nothing left to do in the call; 0: not read
  std::uint64_t past = 0;        // ns in earlier calls that the profile has noted

  // ns in calls until `now`.
  std::uint64_t in_calls(std::uint64_t now) const { return past + (begin != 0 ? now - begin : 0); }
};

struct ProfileLink {
  // The function to which the profile library passes a call: Urakata's, else the MPI library's; nullptr: neither has
  // it. `name` is NAME for MPI_NAME, but ura_NAME for ura_NAME.
  void* (*find)(const char* name);
  ProfiledThread* (*thread)();  // of the calling thread
  // Whether this rank writes a report. Known once MPI_Init has returned.
  bool (*reported)();
  // Gives the shim a word that lives as long as the process. It is not zero while the program is in an MPI call, other
  // than one that only starts or prepares an operation. With several threads the last begin or end of a call counts.
  void (*waiting)(const std::atomic<std::uint32_t>& word);
  // Rank in and size of MPI_COMM_WORLD; between MPI_Init and MPI_Finalize.
  void (*rank)(int* rank, int* ranks);
  std::uint32_t (*job)();    // tells this job's files from another's; 0: not known
  const char* (*program)();  // the program's command line
  const char* (*file)();     // path of the program's own file; empty: unknown
  // A number that all ranks of a communicator have for it, and for no other communicator. `handle`: an MPI_Comm*. 0:
  // the shim does not know the communicator.
  std::uint64_t (*communicator)(const void* handle);
  // Writes the ranks in MPI_COMM_WORLD of a communicator's first `room` members to `world`, and returns the number of
  // all members. 0: an intercommunicator, or a member is not in this MPI_COMM_WORLD. `handle`: an MPI_Comm*.
  std::size_t (*members)(const void* handle, std::int32_t* world, std::size_t room);
  std::uint64_t (*bytes)(const void* status);  // bytes received, by an MPI_Status*
};

inline constexpr const char* kProfileLink = "urakata_profile_link";  // const ProfileLink* urakata_profile_link()

}  // namespace urakata::observe
