// SPDX-License-Identifier: BSD-3-Clause
// Writes what an Observer saw to DIR/rank-N.json, the input of `urakata report DIR`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "observe/observer.hpp"

namespace urakata::observe {

// What the observer cannot know about the rank.
struct Meta {
  struct Setting {
    std::string name, value, origin;  // "ENGINE", "thread", "environment"
  };
  struct ProgressThreadFacts {
    std::string placement;   // "spare core", "shared core"
    std::string cpus;        // "3" or "0-3"; empty: not bound
    double cpu_seconds = 0;  // from the scheduler's accounting
  };

  std::uint32_t rank = 0;  // in MPI_COMM_WORLD
  std::uint32_t ranks = 1;
  std::uint32_t job = 0;  // tells this job's files from another's in the same folder; 0: not known
  // On this rank's node, as far as its ranks may use the cores; 0: not known.
  std::uint32_t node_ranks = 0, node_cores = 0;
  std::string program;      // its command line
  std::string file;         // path of the program's own file
  std::string mpi_library;  // MPI_Get_library_version's first line
  std::string abi;          // "openmpi", "mpich", "abi"
  std::string engine;
  std::string engine_why;  // e.g. why a spare core was refused
  std::string transport;   // of our messages between nodes: native or wire
  std::string transport_why;
  std::string messages;  // by what the program's own go between nodes: native or wire
  std::string messages_why;
  bool messages_progress = false;  // a progress thread moves them while the program computes
  struct Space {
    bool asked = false;
    std::uint32_t ranks = 0;  // that share this rank's, with itself; 0: it is in none
    std::string why;          // it is in none
  } space;
  struct Sites {
    std::string found;  // where the job's nodes are, and how that is known; empty: at one site
    struct Traffic {    // what this rank has sent to another site
      std::string site;
      double round_trip_ms = 0;
      std::uint64_t bytes = 0;
      std::uint64_t pieces = 0;
      std::uint64_t again = 0;        // pieces of lost connections
      std::uint32_t connections = 0;  // the most at a time to a rank
      std::uint32_t lost = 0;         // connections
    };
    std::vector<Traffic> ways;
    struct Link {  // between two sites of the job
      std::string one, other;
      std::string source;  // a file, or "measured in MPI_Init"
      double delay_ms = 0, stream_mbit = 0, pair_mbit = 0, link_mbit = 0, inside_mbit = 0, loss_percent = 0;
    };
    std::vector<Link> links;  // empty: not known
  } sites;
  std::uint64_t init_ns = 0;  // CLOCK_MONOTONIC at MPI_Init's return and at MPI_Finalize's beginning
  std::uint64_t finalize_ns = 0;
  struct Devices {
    std::string drivers;        // "CUDA"; empty: none in the process
    std::uint64_t fetched = 0;  // bytes staged, from devices and to them
    std::uint64_t stored = 0;
  } devices;
  double caller_cpu_seconds = 0;  // of the whole process without the progress threads
  std::uint64_t fences = 0;       // that the rank had the kernel put into all cores (p2p/fence.hpp)
  std::vector<Setting> options;
  std::vector<ProgressThreadFacts> progress_threads;
};

// Creates `directory` and its parents if needed. The file appears under its name only when whole. The error names the
// path and the reason.
Status write(const Observer& observer, const std::string& directory, const Meta& meta);

}  // namespace urakata::observe
