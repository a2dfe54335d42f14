// SPDX-License-Identifier: BSD-3-Clause
// urakata-exec: the program that a launcher starts in a rank's place. It determines the options, chooses the preload
// library for the program's MPI, and executes the program.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "algorithm_names.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "caller_path.hpp"
#include "command_line.hpp"
#include "cores.hpp"
#include "information.hpp"
#include "preload.hpp"
#include "program.hpp"
#include "settings.hpp"
#include "site_check.hpp"
#include "space/fit.hpp"
#include "space/meeting.hpp"
#include "space/proxy_process.hpp"
#include "space/registry.hpp"
#include "space_environment.hpp"

namespace urakata {
namespace {

constexpr int kBadUse = 2;
// Delay before this process ends with an error, in seconds. A launcher that still starts ranks on other nodes may not
// notice that a rank has ended. Those then wait in MPI_Init for ever (seen with PRRTE 3, if a rank ended within 50 ms).
constexpr unsigned kStartsOthers = 1;  // s

// Prints an error once on each node. Errors before the program starts are the same on all ranks of a node, but files
// may differ between nodes.
int refuse(const std::string& message, int code = kBadUse) {
  const Launcher job = launcher();
  if (job.rank <= 0 || job.local_rank == 0) log::error("%s", message.c_str());
  if (job.local_ranks >= 0 && job.local_ranks < job.ranks) sleep(kStartsOthers);
  return code;
}

std::string launcher_in_the_wrong_place(const std::string& launcher) {
  return launcher + " is a launcher, and urakata-exec belongs between launcher and program: " + launcher +
         " -n 4 urakata-exec -- ./app";
}

// Passes the node's cores to the program: the placement of its progress threads needs them.
void hand_over_cores() {
  if (options().engine == EngineKind::native) return;
  const Result<Topology> topology = find_cores();
  if (topology && !topology->cores.empty()) {
    setenv(kCoresVariable, topology->text().c_str(), 1);
  } else {
    unsetenv(kCoresVariable);
  }
}

// The command that the space daemon is to run. Error: why the program cannot run in a space, as a whole clause.
Result<space::Command> task_for(const Program& program, std::span<char*> arguments) {
  if (Status limits = space::fit_limits(); !limits) return limits.error();
  if (program.reach == Reach::shell || program.reach == Reach::wrapper || program.reach == Reach::debugger) {
    return Error{"it starts another program; put urakata-exec --space in front of the MPI program"};
  }
  Result<space::Command> command = space::fit(program.path, arguments);
  if (!command) return Error{"it " + command.error().message};
  return command;
}

int run(std::span<char*> arguments) {
  if (arguments.empty()) return refuse("no program is given; see urakata-exec --help");
  restore_caller_path();
  Program program;
  if (NotStarted failure; !find_program(arguments[0], program, failure))
    return refuse(failure.message, failure.exit_code);
  if (program.reach == Reach::launcher) return refuse(launcher_in_the_wrong_place(arguments[0]));
  const Preload preload = choose_preload(program, library_folder());
  std::optional<Result<space::Command>> task;
  if (options().space && !preload.follows) task = task_for(program, arguments);
  unsetenv(space::kOutsideVariable);  // set by an outer urakata-exec
  if (task && !*task) {
    log::warning_of_all("%s runs as an ordinary process, outside the space: %s", program.path.c_str(),
                        task->error().message.c_str());
    setenv(space::kOutsideVariable, task->error().message.c_str(), 1);
  } else if (!preload.untouched.empty()) {
    log::warning_of_all("%s", preload.untouched.c_str());
  }
  if (preload.follows) {
    setenv(space::kJobVariable, space::job_identity().c_str(), 1);
    // The rank that the program starts may have another working directory.
    const std::string report(options().report);
    if (!report.empty()) setenv("URAKATA_REPORT", std::filesystem::absolute(report).c_str(), 1);
  }
  if (!preload.library.empty()) {
    hand_over_cores();
    add_preload(preload);
    log::detail("%s gets %s", program.path.c_str(), preload.library.c_str());
    for (const std::string& tool : preload.tools.preloads) log::detail("in front of that stands %s", tool.c_str());
    for (const std::string& line : preload.tools.unseeing) log::warning_of_all("%s", line.c_str());
  }
  if (task && *task) {
    space::Command& command = **task;
    command.environment = space_environment();
    const Error reason =
        space::become_proxy(command, program_beside("urakata-spaced"), program_beside("urakata-proxy"));
    log::warning("%s runs as an ordinary process, outside the space: %s", program.path.c_str(), reason.message.c_str());
    setenv(space::kOutsideVariable, reason.message.c_str(), 1);
  }
  if (options().space && !preload.follows) suit_space();
  if (!preload.follows) unsetenv(space::kJobVariable);
  std::vector<char*> list(arguments.begin(), arguments.end());
  list.push_back(nullptr);
  execvp(program.path.c_str(), list.data());  // execvp, since it also runs scripts without a first line
  return refuse("cannot run " + program.path + ": " + std::strerror(errno), 126);
}

int begin(std::span<char*> arguments) {
  const Result<CommandLine> line = read_command_line(arguments);
  if (!line) return refuse(line.error().message);
  if (line->task == Task::help || line->task == Task::version) {
    std::fputs(line->task == Task::help ? help_text(line->expert).c_str() : "urakata-exec " URAKATA_VERSION "\n",
               stdout);
    return 0;
  }
  const bool inner = std::getenv(kOriginsVariable) != nullptr;  // set by an outer urakata-exec
  if (const Status applied = apply_settings(line->settings, known_algorithm); !applied)
    return refuse(applied.error().message);
  log::set_verbosity(options().verbose);
  if (!inner) warn_of_unknown_variables();
  if (line->task == Task::information)
    std::fputs((line->json ? options_json() : options_table(line->expert)).c_str(), stdout);
  if (line->task == Task::check_hosts) {
    const std::vector<std::string> hosts(line->program.begin(), line->program.end());
    if (const Status fit = check_sites(hosts); !fit) return refuse(fit.error().message);
  }
  if (line->task != Task::run) return 0;
  // MPI_Init checks the sites of all hosts. An error about this host is found here, before the program starts.
  if (launcher().rank >= 0) {
    if (const Status fits = check_own_site(); !fits) return refuse(fits.error().message);
  }
  return run(line->program);
}

}  // namespace
}  // namespace urakata

int main(int count, char** arguments) {
  try {
    return urakata::begin({arguments, static_cast<std::size_t>(count)});
  } catch (const std::exception& error) {  // no memory
    urakata::log::error("cannot start the program: %s", error.what());
    return 126;
  }
}
