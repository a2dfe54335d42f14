// SPDX-License-Identifier: BSD-3-Clause
// urakata-schedule show|check|draw: schedules as text, proved, and drawn.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "collectives/expectation.hpp"
#include "schedule/checker.hpp"
#include "schedule/draw.hpp"
#include "schedule/text.hpp"

namespace {

using urakata::Error;
using urakata::Nothing;
using urakata::Result;
using urakata::Status;
namespace collectives = urakata::collectives;
namespace schedule = urakata::schedule;

constexpr const char* kUsage = R"(usage: urakata-schedule show|check|draw [FILE] [options]

Shows, proves and draws the schedules of collectives.

  show   prints schedules as text
  check  proves them: order, races, messages, deadlock, bounds and, with --operation, every byte of the result
  draw   makes an SVG picture of them

Schedules come from FILE (the text form; - is the standard input; those of all ranks to check or draw) or are built:
  --operation NAME    barrier, bcast, gather, ...; with FILE: what the schedules must do
  --algorithm NAME    default: the operation's first
  --ranks N           size of the group (4)
  --bytes N[K|M|G]    payload as the operation counts it (1K)
  --root N            root of a rooted operation (0)
  --element N         bytes of one element of a reduction (8)
  --segment N[K|M|G]  chunk of pipelined algorithms (the algorithm's own default)
  --in-place          as with MPI_IN_PLACE
  --ordered           the reduction does not commute
  --rank R            show only this rank's
  --json              check: print JSON
  -o, --output FILE   write there instead of to the standard output

Examples:
  urakata-schedule show --operation allgather --algorithm ring --ranks 4
  urakata-schedule check --operation allreduce --algorithm rabenseifner --ranks 6 --bytes 1M
  urakata-schedule draw --operation bcast --algorithm chain --ranks 4 --bytes 1M -o chain.svg

Exit code: 0 all is well, 1 the check failed, 2 the input cannot be used.
)";

struct Command {
  std::string action;
  std::optional<std::string> file;
  std::optional<std::string> operation;
  std::optional<std::string> algorithm;
  std::optional<std::uint32_t> rank;
  bool json = false;
  std::string output = "-";
  collectives::Arguments arguments;
  std::uint64_t element = 8;
};

Result<std::uint64_t> number(std::string_view option, std::string_view text, std::uint64_t low, std::uint64_t high,
                             bool suffix = false) {
  std::uint64_t value = 0;
  const char* last = text.data() + text.size();
  auto [end, code] = std::from_chars(text.data(), last, value);
  unsigned shift = 0;
  if (suffix && end + 1 == last) {
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift != 0) ++end;
  }
  if (code != std::errc() || end != last || value > high >> shift || value << shift < low) {
    return Error{std::string(option) + ": '" + std::string(text) + "' is not a number in " + std::to_string(low) +
                 ".." + std::to_string(high)};
  }
  return value << shift;
}

Result<Command> parse(const std::vector<std::string>& words) {
  static const std::set<std::string> kActions{"show", "check", "draw"};
  if (words.empty() || !kActions.contains(words[0])) {
    return Error{"expected show, check or draw" + (words.empty() ? "" : ", found '" + words[0] + "'")};
  }
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
  Command command;
  command.action = words[0];
  command.arguments.ranks = 4;
  command.arguments.bytes = 1024;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string option = words[i];
    std::optional<std::string> attached;
    if (const auto equals = option.find('='); option.starts_with("--") && equals != std::string::npos) {
      attached = option.substr(equals + 1);
      option.resize(equals);
    }
    if (option == "--in-place" || option == "--ordered" || option == "--json") {
      if (attached) return Error{option + " takes no value"};
      if (option == "--in-place") command.arguments.in_place = true;
      if (option == "--ordered") command.arguments.commutative = false;
      if (option == "--json") command.json = true;
      continue;
    }
    if (!option.starts_with("-") || option == "-") {
      if (command.file) return Error{"more than one file: '" + *command.file + "' and '" + option + "'"};
      command.file = option;
      continue;
    }
    static const std::set<std::string> kValued{"--operation", "--algorithm", "--ranks", "--bytes",  "--root",
                                               "--element",   "--segment",   "--rank",  "--output", "-o"};
    if (!kValued.contains(option)) return Error{"unknown option " + option + "; see urakata-schedule --help"};
    if (!attached && i + 1 == words.size()) return Error{option + " needs a value"};
    const std::string value = attached ? *attached : words[++i];
    if (option == "--operation") {
      command.operation = value;
    } else if (option == "--algorithm") {
      command.algorithm = value;
    } else if (option == "-o" || option == "--output") {
      command.output = value;
    } else {
      const bool size = option == "--bytes" || option == "--segment";
      const std::uint64_t low = option == "--ranks" || option == "--element" ? 1 : 0;
      const auto parsed = number(option, value, low, size ? kMaxBytes : 65536, size);
      if (!parsed) return parsed.error();
      const auto small = static_cast<std::uint32_t>(*parsed);
      if (option == "--ranks") command.arguments.ranks = small;
      if (option == "--bytes") command.arguments.bytes = *parsed;
      if (option == "--root") command.arguments.root = small;
      if (option == "--element") command.element = *parsed;
      if (option == "--segment") command.arguments.segment = *parsed;
      if (option == "--rank") command.rank = small;
    }
  }
  if (!command.file && !command.operation) return Error{"a file or --operation is needed; see urakata-schedule --help"};
  if (command.file && command.algorithm) return Error{"a file has its algorithm already; leave --algorithm out"};
  if (command.json && command.action != "check") return Error{"--json is for check"};
  return command;
}

Result<std::vector<schedule::Schedule>> read(const std::string& path) {
  std::stringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream file(path);
    if (!file) return Error{"cannot read " + path};
    text << file.rdbuf();
    if (file.bad() || text.fail()) return Error{path + " is not a readable file, or is empty"};
  }
  auto schedules = schedule::from_text(text.str());
  if (!schedules) return Error{(path == "-" ? std::string("standard input") : path) + ": " + schedules.error().message};
  if (schedules->empty()) return Error{path + ": holds no schedule"};
  return schedules;
}

// What the schedules are and what they must do.
struct Subject {
  std::vector<schedule::Schedule> schedules;
  schedule::Expectation expectation;
};

Result<Subject> subject(Command& command) {
  Subject subject;
  if (command.file) {
    auto schedules = read(*command.file);
    if (!schedules) return schedules.error();
    subject.schedules = std::move(*schedules);
    command.arguments.ranks = static_cast<std::uint32_t>(subject.schedules.size());
  }
  if (!command.operation) return subject;
  const auto operation = collectives::operation_named(*command.operation);
  if (!operation) return operation.error();
  collectives::Arguments& common = command.arguments;
  if (common.root >= common.ranks) return Error{"--root: there are " + std::to_string(common.ranks) + " ranks"};
  if (collectives::is_reduction(*operation)) {
    common.element = common.extent = command.element;
    if (common.bytes % common.element != 0) return Error{"--bytes is no multiple of --element"};
  }
  if (common.in_place && !collectives::may_be_in_place(*operation)) {
    return Error{"--in-place: " + *command.operation + " has no such form"};
  }
  const collectives::ArgumentsOfAll all(*operation, common);
  subject.expectation = collectives::expectation(*operation, all.ranks());
  if (command.file) return subject;
  const collectives::Algorithm* algorithm = &collectives::algorithms(*operation).front();
  if (command.algorithm) {
    const auto named = collectives::algorithm_named(*operation, *command.algorithm);
    if (!named) return named.error();
    algorithm = *named;
  }
  for (const collectives::Arguments& arguments : all.ranks()) {
    auto built = algorithm->build(arguments);
    if (!built) return built.error();
    subject.schedules.push_back(std::move(*built));
  }
  return subject;
}

Status write(const std::string& path, const std::string& text) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  if (file == nullptr) return Error{"cannot write " + path};
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good = (path == "-" ? std::fflush(file) : std::fclose(file)) == 0 && good;
  if (!good) return Error{"cannot write all of " + path};
  return Nothing{};
}

int complain(const Error& error, int code) {
  std::cerr << "urakata-schedule: " << error.message << "\n";
  return code;
}

std::string verdict(const Command& command, const std::vector<schedule::Schedule>& schedules,
                    const schedule::Proof& proof) {
  std::uint64_t bytes = 0;
  for (const auto& message : proof.messages) bytes += message.bytes;
  const std::string& name = schedules.front().name();
  const std::string ranks = std::to_string(schedules.size()), messages = std::to_string(proof.messages.size());
  const std::string iterations = std::to_string(proof.iterations), depth = std::to_string(proof.depth);
  if (command.json) {
    urakata::JsonWriter json;
    json.object().key("proved").boolean(true).key("name").string(name).key("ranks").number(schedules.size());
    json.key("messages")
        .number(proof.messages.size())
        .key("bytes")
        .number(bytes)
        .key("iterations")
        .number(proof.iterations);
    json.key("depth").number(proof.depth).key("values_checked").boolean(command.operation.has_value()).end();
    return json.text() + "\n";
  }
  return name + ": proved for " + ranks + " ranks: " + messages + " messages, " + std::to_string(bytes) + " bytes, " +
         iterations + " iterations, " + depth + " steps deep" +
         (command.operation ? "" : " (values not checked: no --operation)") + "\n";
}

int act(Command& command) {
  auto made = subject(command);
  if (!made) return complain(made.error(), 2);
  const auto& schedules = made->schedules;
  std::string text;
  if (command.action == "show") {
    if (command.rank && *command.rank >= schedules.size()) {
      return complain({"--rank: there are " + std::to_string(schedules.size()) + " ranks"}, 2);
    }
    text = command.rank ? schedule::to_text(schedules[*command.rank]) : schedule::to_text(schedules);
  } else {
    const auto proof = schedule::check(schedules, made->expectation);
    if (!proof && command.json) {
      urakata::JsonWriter json;
      json.object().key("proved").boolean(false).key("why").string(proof.error().message).end();
      (void)write(command.output, json.text() + "\n");
    }
    if (!proof) return complain(proof.error(), 1);
    text = command.action == "draw" ? schedule::draw(schedules, *proof) : verdict(command, schedules, *proof);
  }
  const Status written = write(command.output, text);
  return written ? 0 : complain(written.error(), 2);
}

int begin(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      std::cout << kUsage;
      return 0;
    }
  }
  auto command = parse(words);
  if (!command) return complain(command.error(), 2);
  return act(*command);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return begin({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // no memory
    std::cerr << "urakata-schedule: " << error.what() << '\n';
    return 2;
  }
}
