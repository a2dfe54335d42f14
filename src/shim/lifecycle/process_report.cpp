// SPDX-License-Identifier: BSD-3-Clause
// What a process tells of itself in its report.
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"
#include "base/cpu_set.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "device/runtime.hpp"
#include "device/staging_buffer.hpp"
#include "observe/report.hpp"
#include "p2p/fence.hpp"
#include "shim/collectives/direct_progress.hpp"
#include "shim/collectives/exchange_progress.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/messages/wire_messages.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/own_program.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"
#include "shim/sites/between_sites.hpp"
#include "space/registry.hpp"

namespace urakata::shim {

void Process::write_report() {
  observe::Meta meta;
  meta.finalize_ns = now_ns();
  meta.init_ns = init_ns_;
  meta.rank = static_cast<std::uint32_t>(process_state.world_rank);
  meta.ranks = static_cast<std::uint32_t>(world_size_);
  meta.job = job_.identity();
  meta.node_ranks = static_cast<std::uint32_t>(placement_.node_ranks);
  meta.node_cores = static_cast<std::uint32_t>(placement_.node_cores);
  meta.program = command_line();
  meta.file = program_file();
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  native.Get_library_version(version, &length);
  meta.mpi_library = std::string(version).substr(0, std::string(version).find('\n'));
  meta.abi = kAbi;
  meta.engine = process_state.native_only             ? "native"
                : engines_.named("kernel") != nullptr ? "kernel"
                                                      : std::string(engines_.best().name());
  meta.engine_why = engine_choice_.why;
  meta.transport = wiring_.wire() != nullptr ? "wire" : "native";
  meta.transport_why = transports_.why();
  meta.messages = link() != nullptr ? "wire" : "native";
  meta.messages_why = messages_choice_.why;
  meta.messages_progress = link_progress != nullptr;
  meta.sites = report_of_sites();
  meta.space.asked = options().space;
  meta.space.ranks = static_cast<std::uint32_t>(ranks_in_space());
  if (meta.space.asked && meta.space.ranks == 0) {
    const char* const why = std::getenv(space::kOutsideVariable);
    meta.space.why = why != nullptr              ? why
                     : process_state.native_only ? "everything is left to the MPI library"
                                                 : "not started in one";
  }
  meta.devices = {device::names(), device::traffic().fetched, device::traffic().stored};
  for (const Option& option : option_table()) {
    meta.options.push_back(
        {std::string(option.name), std::string(option_value(option)), std::string(option_origin(option))});
  }
  std::uint64_t progress_threads_ns = 0;
  const auto note = [&](const char* what, const CpuSet& cpus, std::uint64_t used) {
    if (used == 0) return;
    progress_threads_ns += used;
    meta.progress_threads.push_back({what, cpus.text(), static_cast<double>(used) * 1e-9});
  };
  const CpuSet& chosen = placement_.progress_thread;
  const CpuSet unbound;  // of a periodic progress thread, which runs where the rank may
  for (engine::Engine* engine : engines_.all()) {
    const bool bound = engine->name().starts_with(name(EngineKind::thread));
    note(placement_.spare ? "spare core" : "shared core", bound ? chosen : unbound, engine->progress_cpu_ns());
  }
  note("messages between nodes", chosen, link_progress != nullptr ? link_progress->cpu_ns() : 0);
  note("exchanges between nodes", chosen, exchange_progress_cpu_ns());
  note("collectives in the space", chosen, direct_progress_cpu_ns());
  note("messages and exchanges", unbound, periodic != nullptr ? periodic->cpu_ns() : 0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  meta.caller_cpu_seconds =
      seconds(usage.ru_utime) + seconds(usage.ru_stime) - static_cast<double>(progress_threads_ns) * 1e-9;
  meta.fences = p2p::fences();
  const auto written = observe::write(*observer_, std::string(options().report), meta);
  if (!written.ok()) log::error("%s", written.error().message.c_str());
}

}  // namespace urakata::shim
