// SPDX-License-Identifier: BSD-3-Clause
// Writes what an Observer saw to DIR/rank-N.json, the input of `urakata report DIR`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "observe/observer.hpp"

namespace urakata::observe {

// Facts of a report that the observer does not have.
struct Meta {
  struct Setting {
    std::string name, value, origin;  // "ENGINE", "thread", "environment"
  };
  struct ProgressThreadFacts {
    std::string placement;   // "spare core", "shared core"; or what the thread moves: "messages between nodes"
    std::string cpus;        // "3" or "0-3"; empty: not bound, or not known
    double cpu_seconds = 0;  // CPU time, from the scheduler's accounting
  };

  std::uint32_t rank = 0;  // in MPI_COMM_WORLD
  std::uint32_t ranks = 1;
  std::uint32_t job = 0;  // tells this job's files from those of others in the same folder; 0: not known
  // Number of ranks on this rank's node, and number of cores that these may use; 0: not known.
  std::uint32_t node_ranks = 0, node_cores = 0;
  std::string program;      // the program's command line
  std::string file;         // path of the program's own file
  std::string mpi_library;  // first line of MPI_Get_library_version
  std::string abi;          // "openmpi", "mpich", "abi"
  std::string engine;
  std::string engine_why;  // such as why a spare core was refused
  std::string transport;   // of schedules' messages between nodes: "native" or "wire"
  std::string transport_why;
  std::string messages;  // how the program's own messages go between nodes: "native" or "wire"
  std::string messages_why;
  bool messages_progress = false;  // whether a progress thread moves these while the program computes
  struct Space {
    bool asked = false;       // whether a space was asked for
    std::uint32_t ranks = 0;  // number of ranks in this rank's space, itself included; 0: it is in no space
    std::string why;          // why it is in no space, though one was asked for
  } space;
  struct Sites {
    std::string found;  // the sites of the job's nodes, and how they are known; empty: there is one site
    struct Traffic {    // what this rank has sent to one other site
      std::string site;
      double round_trip_ms = 0;
      std::uint64_t bytes = 0;
      std::uint64_t pieces = 0;       // number of pieces that messages were sent in
      std::uint64_t again = 0;        // number of pieces sent again, since their connection was lost
      std::uint32_t connections = 0;  // the most at a time to one rank
      std::uint32_t lost = 0;         // number of connections lost
    };
    std::vector<Traffic> ways;
    struct Link {  // between two sites of the job
      std::string one, other;
      std::string source;  // a file, or "measured in MPI_Init"
      double delay_ms = 0, stream_mbit = 0, pair_mbit = 0, link_mbit = 0, inside_mbit = 0, loss_percent = 0;
    };
    std::vector<Link> links;  // empty: not known
  } sites;
  std::uint64_t init_ns = 0;      // CLOCK_MONOTONIC at MPI_Init's return
  std::uint64_t finalize_ns = 0;  // CLOCK_MONOTONIC at MPI_Finalize's beginning
  struct Devices {
    std::string drivers;        // "CUDA"; empty: the process has none
    std::uint64_t fetched = 0;  // bytes staged from devices
    std::uint64_t stored = 0;   // bytes staged to devices
  } devices;
  double caller_cpu_seconds = 0;  // CPU time of the process without that of `progress_threads`
  std::uint64_t fences = 0;       // number of fences in all threads that this rank asked for (p2p/fence.hpp)
  std::vector<Setting> options;
  std::vector<ProgressThreadFacts> progress_threads;
};

// Creates `directory` and its parents if needed. The file appears under its name only when whole, and replaces nothing
// but an older report. The error names the path and the reason.
Status write(const Observer& observer, const std::string& directory, const Meta& meta);

}  // namespace urakata::observe
