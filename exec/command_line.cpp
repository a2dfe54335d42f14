// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/options/nearest.hpp"

namespace urakata {
namespace {

// The command-line name of an option: --progress-cpus for PROGRESS_CPUS.
std::string argument_of(std::string_view option) {
  std::string argument = "--";
  std::ranges::transform(option, std::back_inserter(argument), [](char letter) {
    return letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return argument;
}

// The error about a name that no option has, such as "--spcae".
Error unknown(std::string_view argument, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : option_table()) names.push_back(option.name);
  const std::string_view near = nearest(name, names);
  return Error{"no option is called " + std::string(argument) +
               (near.empty() ? "; see urakata-exec --help" : "; did you mean " + argument_of(near) + "?")};
}

// Takes "--name VALUE", "--name=VALUE" or "--set NAME=VALUE"; a switch needs no value. Moves `next` behind the words
// that it has taken.
Result<Setting> setting(std::span<char*> arguments, std::size_t& next) {
  std::string_view argument = arguments[next++];
  const std::string_view whole = argument;
  const auto following = [&]() -> Result<std::string_view> {
    if (next == arguments.size() || std::string_view(arguments[next]) == "--") {
      return Error{std::string(whole) + " needs a value; see urakata-exec --help"};
    }
    return std::string_view(arguments[next++]);
  };
  argument.remove_prefix(2);
  const bool set = argument == "set" || argument.starts_with("set=");
  if (set) {
    Result<std::string_view> pair = argument == "set" ? following() : argument.substr(4);
    if (!pair) return pair.error();
    argument = *pair;
    if (argument.find('=') == std::string_view::npos)
      return Error{"--set " + std::string(argument) + ": write NAME=VALUE"};
  }
  const std::size_t equals = argument.find('=');
  const Result<const Option*> option = option_named(argument.substr(0, equals));
  if (!option && !set) return unknown(whole.substr(0, whole.find('=')), argument.substr(0, equals));
  if (!option) return Error{std::string(whole) + ": " + option.error().message};
  const bool alone = equals == std::string_view::npos && is_switch(**option) &&
                     (next == arguments.size() || !check_option(**option, arguments[next]));
  if (alone) return Setting{*option, "1", "command line"};
  const Result<std::string_view> value = equals != std::string_view::npos ? argument.substr(equals + 1) : following();
  if (!value) return value.error();
  return Setting{*option, std::string(*value), "command line"};
}

}  // namespace

Result<CommandLine> read_command_line(std::span<char*> arguments) {
  CommandLine line;
  for (std::size_t next = 1; next < arguments.size();) {
    const std::string_view argument = arguments[next];
    if (argument == "--" || !argument.starts_with('-')) {
      line.program = arguments.subspan(argument == "--" ? next + 1 : next);
      break;
    }
    if (argument == "--help" || argument == "-h") {
      line.task = Task::help;
    } else if (argument == "--version" || argument == "-V") {
      line.task = Task::version;
    } else if (argument == "--check-options") {
      line.task = Task::check_options;
    } else if (argument == "--check-hosts") {
      line.task = Task::check_hosts;
    } else if (argument == "--info") {
      line.task = Task::information;
    } else if (argument == "--json") {
      line.json = true;
    } else if (argument == "--expert") {
      line.expert = true;
    } else if (argument.starts_with("--")) {
      Result<Setting> one = setting(arguments, next);
      if (!one) return one.error();
      line.settings.push_back(std::move(*one));
      continue;
    } else {
      return Error{"no option is called " + std::string(argument) + "; see urakata-exec --help"};
    }
    ++next;
  }
  return line;
}

}  // namespace urakata
