// SPDX-License-Identifier: BSD-3-Clause
#include "information.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "base/options/options.hpp"
#include "base/options/written.hpp"
#include "job/known_links.hpp"
#include "tune/costs.hpp"

namespace urakata {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string result(text);
  if (result.size() < width) result.resize(width, ' ');
  return result + "  ";
}

std::string argument_name(std::string_view name) {
  std::string result = "--";
  for (const char letter : name) {
    result += letter == '_' ? '-' : static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  }
  return result;
}

std::string placeholder(const Option& option) {
  switch (option.kind) {
    case OptionKind::choice: {
      std::string words;
      for (const std::string_view one : option.choices) words += (words.empty() ? "" : "|") + std::string(one);
      return words;
    }
    case OptionKind::integer:
      return "N";
    case OptionKind::size:
      return "BYTES";
    case OptionKind::cpu_list:
      return "CPUS";
    case OptionKind::algorithms:
      return "SPEC";
    case OptionKind::text:
      break;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTexts = {{{"COSTS", "FILE|NAME=VALUE,..."},
                                                                                    {"REPORT", "DIR"},
                                                                                    {"CONFIG", "FILE"},
                                                                                    {"WIRE_INTERFACE", "NAME"},
                                                                                    {"SITES", "auto|one|FILE|LINES"},
                                                                                    {"LINK_RATES", "auto|measure|FILE"},
                                                                                    {"CONGESTION", "NAME"}}};
  const auto* const found = std::ranges::find(kTexts, option.name, &decltype(kTexts)::value_type::first);
  return std::string(found != kTexts.end() ? found->second : "TEXT");
}

std::string_view cost_origin(const tune::CostRow& row) {
  const Option& option = **option_named("COSTS");
  return tune::in_list(option_value(option), row) ? option_origin(option) : "default";
}

// A cost as text, out of the costs in force or of the defaults.
std::string cost_text(const tune::CostRow& row, tune::Costs costs) { return tune::written_cost(row.in(costs)); }

// The value as a user would type it: the file's name for links that were read from a file.
std::string shown_value(const Option& option) {
  const std::string_view value = option_value(option);
  if (option.name == "LINK_RATES") {
    // A file that is not there yet is the one of `auto`, the default; by name it would be an error.
    if (const Result<job::KnownLinks> known = job::read_known_links(value)) {
      return access(known->file.c_str(), R_OK) == 0 ? known->file : std::string(option.standard);
    }
  }
  return std::string(value);
}

std::string or_dash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

bool for_experts(const Option& option) { return option.level == OptionLevel::expert; }

std::string help_line(const Option& option) {
  return "  " + padded(argument_name(option.name) + " " + placeholder(option), 34) + std::string(option.sentence) +
         (option.standard.empty() ? "" : " (default: " + std::string(option.standard) + ")") + "\n";
}

}  // namespace

std::string help_text(bool experts) {
  std::string text =
      "Usage: urakata-exec [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
      "\n"
      "Runs one rank of an MPI program, unmodified, with Urakata under it. It belongs between launcher and program:\n"
      "\n"
      "  mpirun -n 4 urakata-exec -- ./app input.dat\n"
      "  srun -n 4 urakata-exec --engine thread --report out -- ./app\n"
      "  mpiexec -n 2 urakata-exec --algorithm allgather:ring,bcast:chain -- python script.py\n"
      "  mpirun -n 4 urakata-exec --set VERBOSE=2 -- ./app\n"
      "\n"
      "Where it cannot serve the program (no MPI, static, an MPI that it does not know) it says so in one line, and "
      "the\n"
      "program runs untouched. Exit status, signals and process number are the program's own.\n"
      "\n"
      "Options (each also as URAKATA_NAME in the environment, as a key of the config file, and as --set NAME=VALUE):\n";
  for (const Option& option : option_table()) {
    if (!for_experts(option)) text += help_line(option);
  }
  text +=
      "\n"
      "  " +
      padded("--set NAME=VALUE", 34) +
      "Any of these by name\n"
      "  " +
      padded("--check-options", 34) +
      "Only look whether all options are valid; exit status 2 where not\n"
      "  " +
      padded("--check-hosts -- HOST...", 34) +
      "Likewise, and whether SITES has each host of a job at one site\n"
      "  " +
      padded("--info [--json]", 34) +
      "The options: value in force, where it comes from, default\n"
      "  " +
      padded("--expert", 34) +
      "With --help or --info: also options for experts, and the costs that Urakata's choices rest on\n"
      "  " +
      padded("--version", 34) +
      "The version\n"
      "\n"
      "Exit status: the program's; 2: bad option or use; 126, 127: the program cannot be run, is not there.\n";
  if (!experts) return text;
  text +=
      "\n"
      "For experts:\n"
      "These are set as the options above. Their defaults suit nearly every job.\n"
      "\n";
  for (const Option& option : option_table()) {
    if (for_experts(option)) text += help_line(option);
  }
  return text;
}

std::string options_table(bool experts) {
  // The option with its value, as a user can paste it into a shell.
  const auto setting = [](const Option& option) {
    const std::string value = shown_value(option);
    return "URAKATA_" + std::string(option.name) + "=" + (value.empty() ? value : written::shell_word(value));
  };
  std::size_t setting_width = 8, origin_width = 4;
  for (const Option& option : option_table()) {
    if (for_experts(option) && !experts) continue;
    setting_width = std::max(setting_width, setting(option).size());
    origin_width = std::max(origin_width, option_origin(option).size());
  }
  const auto row = [&](std::string_view name, std::string_view value, std::string_view origin,
                       std::string_view standard, std::string_view sentence) {
    return padded(name, setting_width) + padded(value, 5) + padded(origin, origin_width) + padded(standard, 7) +
           std::string(sentence) + "\n";
  };
  std::string text = row("variable", "unit", "from", "default", "what it does");
  for (const Option& option : option_table()) {
    if (for_experts(option) && !experts) continue;
    text +=
        row(setting(option), or_dash(option.unit), option_origin(option), or_dash(option.standard), option.sentence);
  }
  if (!experts) return text;
  text += "\n" + row("cost", "value", "from", "default", "what it is");
  for (const tune::CostRow& cost : tune::cost_table()) {
    text += row(cost.name(), cost_text(cost, tune::costs()), cost_origin(cost), cost_text(cost, {}),
                std::string(cost.sentence) + " (" + std::string(cost.unit) + "; " + std::string(cost.measured) + ")");
  }
  return text;
}

namespace {

void add_costs(JsonWriter& json) {
  json.key("costs").array();
  for (const tune::CostRow& cost : tune::cost_table()) {
    tune::Costs in_force = tune::costs();
    tune::Costs standard;
    json.object().key("name").string(cost.name()).key("value").real(cost.in(in_force));
    json.key("origin").string(cost_origin(cost)).key("default").real(cost.in(standard));
    json.key("unit").string(cost.unit).key("sentence").string(cost.sentence).key("measured").string(cost.measured);
    json.end();
  }
  json.end();
}

}  // namespace

std::string options_json() {
  JsonWriter json;
  json.array();
  for (const Option& option : option_table()) {
    json.object().key("name").string(option.name).key("variable").string("URAKATA_" + std::string(option.name));
    json.key("value").string(shown_value(option)).key("origin").string(option_origin(option));
    json.key("default").string(option.standard).key("unit").string(option.unit);
    json.key("level").string(option.level == OptionLevel::basic      ? "basic"
                             : option.level == OptionLevel::advanced ? "advanced"
                             : option.level == OptionLevel::expert   ? "expert"
                                                                     : "test");
    json.key("valid").string(valid_values(option)).key("sentence").string(option.sentence);
    if (option.name == "COSTS") add_costs(json);
    json.end();
  }
  return json.end().text() + "\n";
}

}  // namespace urakata
