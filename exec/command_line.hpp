// SPDX-License-Identifier: BSD-3-Clause
// urakata-exec's arguments. Every row of the option table is an argument by itself: PROGRESS_CPUS is --progress-cpus.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config_file.hpp"

namespace urakata {

enum class Task : std::uint8_t { run, check_options, check_hosts, information, help, version };

struct CommandLine {
  Task task = Task::run;
  bool json = false;
  bool expert = false;
  std::vector<Setting> settings;
  std::span<char*> program;  // program and arguments, argv[0] as given; for check_hosts: the names of the hosts
};

// Options end at "--", or before the first argument that is no option. Error: what is wrong, with the nearest name.
Result<CommandLine> read_command_line(std::span<char*> arguments);

}  // namespace urakata
