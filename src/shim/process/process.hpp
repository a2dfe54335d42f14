// SPDX-License-Identifier: BSD-3-Clause
// Urakata in this process: its engines, its observer, its private communicator; from MPI_Init to MPI_Finalize.
//
// Thread-safety: initialise() and finalise() by the thread that calls MPI_Init and MPI_Finalize; the rest by any thread
// between.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engines.hpp"
#include "job/better_network.hpp"
#include "job/job.hpp"
#include "job/wiring.hpp"
#include "observe/observer.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/progress.hpp"
#include "tune/engine_choice.hpp"
#include "tune/messages_choice.hpp"
#include "tune/thread_placement.hpp"
#include "tune/transport_choice.hpp"

namespace urakata::transport {
class Stripes;
}

namespace urakata::shim {

class Process {
 public:
  // What MPI_Init and MPI_Init_thread do. `required` is what the program asks for; it gets its answer in `provided`.
  int initialise(int* argc, char*** argv, int required, int* provided);
  int finalise();
  // The process ends without MPI_Finalize: only the progress threads are ended.
  void stop_progress_threads();

  bool running() const { return running_; }
  bool native_only() const { return native_only_; }  // engine native: everything passes untouched
  int told_level() const { return told_level_; }     // the thread level that the program knows of
  bool multiple() const { return multiple_; }        // the MPI library allows several threads at once
  bool oversubscribed() const { return oversubscribed_; }
  const tune::TransportChoice& transports() const { return transports_; }
  const std::string& sites_text() const { return sites_text_; }
  const Sites& sites() const { return sites_; }             // of the job
  transport::Stripes* stripes() const { return stripes_; }  // nullptr: there is one site, or no wire between them
  transport::Wire* wire() const { return wiring_.wire(); }  // nullptr: this rank has none

  std::int32_t world_rank() const { return world_rank_; }
  const job::Job& job() const { return job_; }
  MPI_Comm world() const { return world_; }  // the private duplicate of MPI_COMM_WORLD
  // That of MPI_COMM_SELF, which is the program's own: a thread of it may be in a collective there at any time.
  MPI_Comm self() const { return self_; }
  MPI_Group world_group() const { return world_group_; }
  int largest_tag() const { return largest_tag_; }  // of the MPI library

  const engine::Engines& engines() const { return engines_; }
  const tune::EngineChoice& engine_choice() const { return engine_choice_; }
  const tune::Placement& placement() const { return placement_; }
  // The engine for the next communicator, of these ranks of MPI_COMM_WORLD: engines of the kind that pays there, dealt
  // out in turn. nullptr: native.
  engine::Engine* next_engine(const std::vector<std::int32_t>& world_ranks);

  Progress& progress() { return progress_; }

  observe::Observer* observer() const { return observer_.get(); }
  bool measuring() const { return measuring_; }

 private:
  job::Facts own_facts();             // asks the MPI library for its largest tag
  std::int32_t make_communicators();  // the private ones; returned is the lowest rank on this node
  // Meets the other ranks and makes everything ready for operations. False: all is the MPI library's, on every rank
  // alike.
  bool set_up();
  void choose_messages(job::Bootstrap& world);
  std::string why_no_kernel(job::Bootstrap& world);
  Sites meet_sites(job::Bootstrap& world, const Network& network);
  void open_stripes();
  // Until what all ranks have sent to other sites has come there, or its stripes are lost. Collective.
  void settle_stripes();
  void judge_links();  // collective
  void make_engines();
  // Why a progress thread would have to call the MPI library for messages of this rank; empty: they all go by wire.
  std::string why_not_by_wire() const;
  void write_report();
  // Ends everything of ours, in MPI_Finalize. Collective.
  void end();
  void stop_native_progress_threads();

  bool running_ = false;
  bool native_only_ = true;
  bool ends_in_callback_ = false;  // finalize_callback.hpp
  bool measuring_ = false;
  bool oversubscribed_ = false;
  bool multiple_ = false;  // the MPI library allows several threads at once
  int told_level_ = MPI_THREAD_SINGLE;
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm self_ = MPI_COMM_NULL;
  MPI_Group world_group_ = MPI_GROUP_NULL;
  int largest_tag_ = 32767;  // what the standard grants
  std::int32_t world_rank_ = 0;
  std::int32_t world_size_ = 1;
  job::Job job_;

  tune::RunFacts facts_;
  tune::EngineChoice engine_choice_;
  engine::Engines engines_;
  Progress progress_{engines_};
  transport::Failures failures_{MPI_ERR_OTHER};
  job::OpenFiles open_before_;  // before the MPI library's MPI_Init; where there may be several nodes
  std::string
      better_network_;  // why messages to other nodes are best left to the MPI library; empty: nothing speaks for that
  job::Wiring wiring_;
  tune::TransportChoice transports_;
  tune::MessagesChoice messages_choice_;
  Sites sites_;
  std::string sites_text_;                 // for people
  transport::Stripes* stripes_ = nullptr;  // lives as long as the process
  std::unique_ptr<observe::Observer> observer_;
  tune::Placement placement_;
  std::uint64_t init_ns_ = 0;
};

// Made at first sight, and lives as long as the process: progress threads may still look at it while exit handlers run.
extern constinit std::atomic<Process*> the_process;
Process& make_process();
inline Process& process() {
  Process* const made = the_process.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_process();
}

}  // namespace urakata::shim
