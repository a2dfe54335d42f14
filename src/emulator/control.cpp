// SPDX-License-Identifier: BSD-3-Clause
#include "emulator/control.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/statistics.hpp"

namespace urakata::emulator {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view text) {
  Words words;
  while (true) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find_first_of(" \n")));
    text.remove_prefix(words.back().size());
  }
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error wrong(std::string_view what, std::string_view text, std::string_view possible) {
  return Error{std::string(what) + " '" + std::string(text) + "' is not possible: " + std::string(possible)};
}

// 'any', '10.87.0.1' or '10.87.0.1:5000'.
Result<std::pair<std::uint32_t, std::uint16_t>> end_of(std::string_view text) {
  if (text == "any") return std::pair<std::uint32_t, std::uint16_t>{0, 0};
  const auto colon = text.find(':');
  const auto port = colon == std::string_view::npos ? 0 : number<std::uint16_t>(text.substr(colon + 1));
  in_addr address{};
  if (!port || inet_pton(AF_INET, std::string(text.substr(0, colon)).c_str(), &address) != 1) {
    return wrong("the end of a flow", text, "it is any, ADDRESS or ADDRESS:PORT");
  }
  return std::pair{static_cast<std::uint32_t>(ntohl(address.s_addr)), *port};
}

Result<FlowPattern> pattern_of(std::string_view from, std::string_view to) {
  const auto source = end_of(from);
  if (!source) return source.error();
  const auto destination = end_of(to);
  if (!destination) return destination.error();
  return FlowPattern{source->first, destination->first, source->second, destination->second};
}

constexpr std::uint64_t kMostDelay = 10'000'000'000;          // 10 s
constexpr std::uint64_t kLeastRate = 8'000;                   // a segment of 1500 bytes then takes 1.5 s
constexpr std::uint64_t kMostRate = 1'000'000'000'000;        // a segment of 1500 bytes then takes 12 ns
constexpr std::uint64_t kLeastQueue = 1500;                   // a segment of the usual MTU
constexpr std::uint64_t kMostQueue = std::uint64_t{1} << 34;  // 16 GiB

Result<std::uint64_t> rate_of(std::string_view text) {
  const auto rate = number<std::uint64_t>(text);
  if (!rate || (*rate != 0 && (*rate < kLeastRate || *rate > kMostRate))) {
    return wrong("the rate", text, "it is 0 (no limit) or 8000 to 10^12 bits a second");
  }
  return *rate;
}

Status set_one(Settings& settings, std::optional<std::uint64_t>& seed, std::string_view name, std::string_view value) {
  if (name == "rate" || name == "flow-rate") {
    const auto rate = rate_of(value);
    if (!rate) return rate.error();
    (name == "rate" ? settings.rate : settings.flow_rate) = *rate;
    return Nothing{};
  }
  if (name == "loss") {
    const auto loss = number<double>(value);
    if (!loss || !(*loss >= 0 && *loss <= 1)) return wrong("the loss", value, "it is 0 to 1");
    settings.loss = *loss;
    return Nothing{};
  }
  const auto whole = number<std::uint64_t>(value);
  if (name == "seed") {
    if (!whole) return wrong("the seed", value, "it is a number");
    seed = whole;
    return Nothing{};
  }
  if (name == "delay") {
    if (!whole || *whole > kMostDelay) return wrong("the delay", value, "it is 0 to 10^10 ns");
    settings.delay_ns = *whole;
    return Nothing{};
  }
  if (name == "queue" || name == "flow-queue") {
    if (!whole || *whole < kLeastQueue || *whole > kMostQueue) {
      return wrong("the queue", value, "it is 1500 to 2^34 bytes");
    }
    (name == "queue" ? settings.queue : settings.flow_queue) = *whole;
    return Nothing{};
  }
  return wrong("the setting", name, "there are delay, rate, queue, flow-rate, flow-queue, loss and seed");
}

Status set(Direction& direction, const Words& words) {
  Settings settings = direction.settings();
  std::optional<std::uint64_t> seed;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string_view::npos) return wrong("the word", words[i], "settings are NAME=VALUE");
    const Status done = set_one(settings, seed, words[i].substr(0, equals), words[i].substr(equals + 1));
    if (!done) return done;
  }
  if (settings.rate != 0 && settings.queue == 0) settings.queue = kLeastQueue;
  if (settings.flow_rate != 0 && settings.flow_queue == 0) settings.flow_queue = kLeastQueue;
  if (seed) direction.seed(*seed);
  direction.set(settings);
  return Nothing{};
}

Status set_rule(Direction& direction, const Words& words) {
  const auto pattern = pattern_of(words[2], words[3]);
  if (!pattern) return pattern.error();
  FlowRule rule{*pattern, std::nullopt, std::nullopt};
  if (words[0] == "flow-rate") {
    const auto rate = rate_of(words[4]);
    if (!rate) return rate.error();
    if (*rate != 0 && direction.settings().flow_queue == 0) {
      return Error{"a flow's rate needs a queue: set flow-queue first"};
    }
    rule.rate = *rate;
  } else {
    rule.cut = words[0] == "cut";
  }
  direction.rule(rule);
  return Nothing{};
}

}  // namespace

Status obey(Directions& directions, std::string_view command) {
  const Words words = words_of(command);
  if (words.size() < 2 || (words[1] != "0" && words[1] != "1")) {
    return wrong("the command", command, "it is stats, or set, cut, restore or flow-rate with direction 0 or 1");
  }
  Direction& direction = directions[words[1] == "0" ? 0 : 1];
  const bool whether_cut = words[0] == "cut" || words[0] == "restore";
  if (words[0] == "set") return set(direction, words);
  if (whether_cut && words.size() == 2) {
    direction.cut(words[0] == "cut");
    return Nothing{};
  }
  if ((whether_cut && words.size() == 4) || (words[0] == "flow-rate" && words.size() == 5)) {
    return set_rule(direction, words);
  }
  return wrong("the command", command,
               "there are set D NAME=VALUE..., cut and restore D [FROM TO], flow-rate D FROM TO RATE");
}

std::string answer(Directions& directions, std::string_view command, const std::function<void(JsonWriter&)>& machine) {
  JsonWriter json;
  json.object().key("error");
  const Words words = words_of(command);
  if (words.size() == 1 && words[0] == "stats") {
    json.string("").key("directions").array();
    for (const Direction& direction : directions) write_statistics(json, direction);
    json.end();
    machine(json);
  } else {
    const Status done = obey(directions, command);
    json.string(done ? std::string() : done.error().message);
  }
  json.end();
  return json.text();
}

}  // namespace urakata::emulator
