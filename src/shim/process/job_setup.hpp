// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Init has found out about the job and made for it: where ranks are, what joins them, and the engines. Class
// Process (lifecycle/process.hpp) owns it and fills it in.
//
// Thread-safety: written by the thread that calls MPI_Init, and constant from then on; read by any thread after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/network.hpp"
#include "engine/engines.hpp"
#include "job/job.hpp"
#include "job/wiring.hpp"
#include "tune/engine_choice.hpp"
#include "tune/thread_placement.hpp"
#include "tune/transport_choice.hpp"

namespace urakata::transport {
class Stripes;
}

namespace urakata::shim {

class JobSetup {
 public:
  const job::Job& job() const { return job_; }
  const tune::TransportChoice& transports() const { return transports_; }
  const std::string& sites_text() const { return sites_text_; }
  const Sites& sites() const { return sites_; }             // of the job
  transport::Stripes* stripes() const { return stripes_; }  // nullptr: the job has one site, or this rank no stripes
  transport::Wire* wire() const { return wiring_.wire(); }  // nullptr: this rank has none

  const engine::Engines& engines() const { return engines_; }
  const tune::EngineChoice& engine_choice() const { return engine_choice_; }
  const tune::Placement& placement() const { return placement_; }
  // The engine for a new communicator of these ranks of MPI_COMM_WORLD: the best one, or the best one without a
  // progress thread if tune::by_callers() says so for ranks that share a node. nullptr: there is no engine.
  engine::Engine* next_engine(const std::vector<std::int32_t>& world_ranks) const;

 protected:
  JobSetup() = default;
  ~JobSetup() = default;

  job::Job job_;
  tune::EngineChoice engine_choice_;
  engine::Engines engines_;
  job::Wiring wiring_;
  tune::TransportChoice transports_;
  Sites sites_;
  std::string sites_text_;                 // the sites in words, for the log and the report
  transport::Stripes* stripes_ = nullptr;  // lives as long as the process
  tune::Placement placement_;
};

// The object of this process; nullptr before MPI_Init.
extern constinit const JobSetup* the_job_setup;
inline const JobSetup& job_setup() { return *the_job_setup; }

// By rank of MPI_COMM_WORLD: whether the rank is at another site than this rank. Empty: the job has one site.
std::vector<bool> ranks_at_other_sites();

}  // namespace urakata::shim
