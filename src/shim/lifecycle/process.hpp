// SPDX-License-Identifier: BSD-3-Clause
// Urakata in this process, from MPI_Init to MPI_Finalize: makes and ends its engines, transports, observer and private
// communicators. What other parts of the shim need of it lies in lower ones: process/process_state.hpp,
// process/job_setup.hpp and native/private_comms.hpp.
//
// Thread-safety: by the thread that calls MPI_Init and MPI_Finalize; stop_progress_threads() also by an exit handler;
// process() and what is inherited from JobSetup by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "job/better_network.hpp"
#include "observe/observer.hpp"
#include "shim/native/abi.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/progress/progress.hpp"
#include "tune/engine_choice.hpp"
#include "tune/messages_choice.hpp"

namespace urakata::shim {

class Process final : public JobSetup {
 public:
  Process();

  // What MPI_Init and MPI_Init_thread do. `required` is what the program asks for; it gets its answer in `provided`.
  int initialise(int* argc, char*** argv, int required, int* provided);
  int finalise();
  // Stops the progress threads and the submitter of the channel sets. Called in MPI_Finalize, and by an exit handler if
  // the program ends without it.
  void stop_progress_threads();

 private:
  job::Facts own_facts();             // this rank's record for Job::agree(), with as many contexts as tags allow
  std::int32_t make_communicators();  // the private ones; returned is the lowest rank on this node
  // Meets the other ranks and makes everything ready for operations. False: all is the MPI library's, on every rank
  // alike.
  bool set_up();
  void choose_messages(job::Bootstrap& world);
  // Sets up the channel sets for engine `kernel`. Returns why the job cannot have this engine, the same on all ranks;
  // empty: it has the engine. Collective.
  std::string why_no_kernel(job::Bootstrap& world);
  Sites meet_sites(job::Bootstrap& world, const Network& network);
  void make_engines();
  // Why a progress thread would have to call the MPI library for messages of this rank; empty: they all go by wire.
  std::string why_not_by_wire() const;
  void write_report();
  // Ends everything of ours, in MPI_Finalize. Collective.
  void end();
  void stop_native_progress_threads();

  bool ends_in_callback_ = false;  // finalize_callback.hpp
  std::int32_t world_size_ = 1;

  tune::RunFacts facts_;
  Progress progress_{engines_};
  transport::Failures failures_{MPI_ERR_OTHER};
  // The descriptors that were open before the MPI library's MPI_Init, to find out its network. Empty if the launcher
  // says that the job has one node.
  job::OpenFiles open_before_;
  std::string better_network_;  // the network of the MPI library that is better than TCP; empty: there is none
  tune::MessagesChoice messages_choice_;
  std::unique_ptr<observe::Observer> observer_;
  std::uint64_t init_ns_ = 0;
};

// The object of this process. The first call makes it. It is never destroyed: progress threads may still use it while
// exit handlers run.
extern constinit std::atomic<Process*> the_process;
Process& make_process();
inline Process& process() {
  Process* const made = the_process.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_process();
}

}  // namespace urakata::shim
