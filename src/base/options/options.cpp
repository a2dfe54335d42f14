// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <forward_list>
#include <string>

#include "base/log.hpp"
#include "base/options/nearest.hpp"
#include "base/options/option_table.hpp"
#include "base/options/written.hpp"

namespace urakata {
namespace {

using namespace std::string_view_literals;
using written::choice;
using written::cut;
using written::number;
using written::switched;
using written::switched_or_auto;

// Variables that are no options: Urakata's programs and libraries use them among themselves.
constexpr std::array kInternal = {"URAKATA_ORIGINS"sv,       "URAKATA_CORES"sv,       "URAKATA_TEST_FULL"sv,
                                  "URAKATA_MEASURE_START"sv, "URAKATA_JOB"sv,         "URAKATA_SPACE_AT"sv,
                                  "URAKATA_SPACE_REFUSED"sv, "URAKATA_CALLER_PATH"sv, "URAKATA_TEST_SEED"sv};

std::size_t row_of(const Option& option) { return static_cast<std::size_t>(&option - table::kTable.data()); }

// The value of an option's variable; nullptr: not set, or empty.
const char* variable_of(const Option& option) {
  std::array<char, 64> variable{};
  std::copy(option.name.begin(), option.name.end(),
            std::copy(table::kPrefix.begin(), table::kPrefix.end(), variable.begin()));
  const char* value = std::getenv(variable.data());
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// The values and origins in force, read once. Texts are copied, since a program may change its environment later.
class Settings {
 public:
  Settings() {
    take_texts();
    for (std::size_t row = 0; row < table::kRows; ++row) {
      if (values_[row].empty()) values_[row] = table::kTable[row].standard;
    }
    apply();
  }

  const Options& values() const { return options_; }
  std::string_view value(std::size_t row) const { return values_[row]; }
  std::string_view origin(std::size_t row) const { return origins_[row]; }

 private:
  void take_texts() {
    const char* named = std::getenv(kOriginsVariable);
    const std::string_view origins = keep(named != nullptr ? named : "");
    if (const Status good = check_old_variables(); !good)
      log::error("%s; the default is used", good.error().message.c_str());
    for (std::size_t row = 0; row < table::kRows; ++row) {
      origins_[row] = "default";
      const char* value = in_environment(table::kTable[row]);
      if (value == nullptr) continue;
      if (const Status status = check_option(table::kTable[row], value); !status) {
        log::error("%s; the default is used", status.error().message.c_str());
        continue;
      }
      values_[row] = keep(value);
      origins_[row] = "environment";
      if (const std::string_view known = origin_in(origins, table::kTable[row].name); !known.empty())
        origins_[row] = known;
    }
  }

  void apply() {
    options_.engine = static_cast<EngineKind>(choice(table::kEngines, values_[table::kEngine]).value_or(0));
    options_.placement = static_cast<PlacementWish>(choice(table::kPlacements, values_[table::kPlacement]).value_or(0));
    options_.progress_cpus = values_[table::kProgressCpus];
    options_.algorithms = values_[table::kAlgorithm];
    options_.segment = written::size(values_[table::kSegment]).value_or(0);
    options_.costs = values_[table::kCosts];
    options_.report = values_[table::kReport];
    options_.timeline = switched(values_[table::kTimeline]).value_or(0) == 1;
    options_.config = values_[table::kConfig];
    options_.verbose = static_cast<unsigned>(number(values_[table::kVerbose]).value_or(1));
    options_.space = switched(values_[table::kSpace]).value_or(0) == 1;
    options_.space_copy = static_cast<CopyingWish>(choice(table::kCopyings, values_[table::kSpaceCopy]).value_or(0));
    options_.space_devices = switched(values_[table::kSpaceDevices]).value_or(0) == 1;
    options_.neighborhood =
        static_cast<NeighborhoodWish>(choice(table::kNeighborhoods, values_[table::kNeighborhood]).value_or(0));
    options_.blocking =
        static_cast<BlockingWish>(choice(table::kBlockingWishes, values_[table::kBlocking]).value_or(0));
    options_.transport = static_cast<TransportWish>(choice(table::kTransports, values_[table::kTransport]).value_or(0));
    options_.wire_messages = static_cast<MessagesWish>(switched_or_auto(values_[table::kWireMessages]).value_or(0));
    options_.wire_interface = values_[table::kWireInterface];
    options_.sites = values_[table::kSites];
    options_.link_rates = values_[table::kLinkRates];
    options_.lanes = static_cast<std::uint32_t>(number(values_[table::kLanes]).value_or(0));
    options_.connections = static_cast<std::uint32_t>(number(values_[table::kConnections]).value_or(0));
    options_.congestion = values_[table::kCongestion];
    options_.tag_ub = number(values_[table::kTagUb]).value_or(0);
    options_.peer_timeout_s = number(values_[table::kPeerTimeout]).value_or(30);
    options_.nap_us = number(values_[table::kNap]).value_or(0);
    log::set_verbosity(options_.verbose);
  }

  // A copy that lives as long as the process.
  std::string_view keep(std::string_view text) { return texts_.emplace_front(text); }

  std::array<std::string_view, table::kRows> values_;
  std::array<std::string_view, table::kRows> origins_;
  Options options_;
  std::forward_list<std::string> texts_;
};

const Settings& settings() {
  static const auto* read = new Settings;  // never destroyed: read until the process ends
  return *read;
}

}  // namespace

std::string_view Options::algorithm_for(std::string_view operation, bool* bare) const {
  std::string_view meant_for_all;
  for (std::string_view rest = algorithms; !rest.empty();) {
    std::string_view algorithm = cut(rest, ',');
    if (algorithm.find(':') == std::string_view::npos) {
      if (meant_for_all.empty()) meant_for_all = algorithm;
    } else if (written::same(cut(algorithm, ':'), operation)) {
      if (bare != nullptr) *bare = false;
      return algorithm;
    }
  }
  if (bare != nullptr) *bare = true;
  return meant_for_all;
}

const Options& options() { return settings().values(); }
std::string_view option_value(const Option& option) { return settings().value(row_of(option)); }
std::string_view origin_in(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    std::string_view origin = cut(list, ';');
    if (cut(origin, '=') == name) return origin;
  }
  return {};
}

std::string_view option_origin(const Option& option) { return settings().origin(row_of(option)); }

PresentSetting present_setting(const Option& option, const char* value) {
  const table::OldOption* const old = table::old_option(option);
  const std::string name(option.name);
  if (old == nullptr) {
    const char* const now = table::present_value(option, value);
    if (now == value) return {&option, value, {}};
    return {&option, now,
            name + "=" + value + " is called " + name + "=" + now + " now; the next release will not accept " + value};
  }
  if (old->why_gone != nullptr) {
    return {nullptr, nullptr, name + "=" + value + " has no effect any more: " + old->why_gone};
  }
  const char* const now = old->now(value);
  if (now == nullptr) return {nullptr, nullptr, {}};
  const Option& present = table::kTable[old->row];
  return {&present, now,
          name + "=" + value + " is called " + std::string(present.name) + "=" + now +
              " now; the next release will not accept " + name};
}

const char* in_environment(const Option& option) {
  if (const char* value = variable_of(option)) return table::present_value(option, value);
  for (const table::OldOption& old : table::kOldTable) {
    if (old.row != row_of(option)) continue;
    const char* const value = variable_of(old.form);
    if (value == nullptr || !check_option(old.form, value)) continue;
    if (const char* const now = old.now(value)) return now;
  }
  return nullptr;
}

Status check_old_variables() {
  for (const table::OldOption& old : table::kOldTable) {
    const char* const value = variable_of(old.form);
    if (value == nullptr) continue;
    if (Status good = check_option(old.form, value); !good) return good;
  }
  return Nothing{};
}

void warn_of_unknown_variables() {
  const auto tell_present = [](const Option& option) {
    const char* const value = variable_of(option);
    if (value == nullptr || !check_option(option, value)) return;
    if (const PresentSetting now = present_setting(option, value); !now.line.empty())
      log::warning_of_all("%s", now.line.c_str());
  };
  for (const table::OldOption& old : table::kOldTable) tell_present(old.form);
  for (const Option& option : table::kTable) tell_present(option);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view rest = *entry;
    if (!rest.starts_with(table::kPrefix)) continue;
    const std::string_view variable = cut(rest, '=');
    const std::string_view bare = variable.substr(table::kPrefix.size());
    if (std::ranges::find(kInternal, variable) != kInternal.end() ||
        std::ranges::find(table::kNames, bare) != table::kNames.end() ||
        std::ranges::any_of(table::kOldTable, [&](const auto& old) { return old.form.name == bare; }))
      continue;
    const std::string_view near = nearest(bare, table::kNames);
    if (near.empty()) {
      log::warning_of_all("%.*s is no variable of Urakata's and is ignored; `urakata check --options` lists them",
                          static_cast<int>(variable.size()), variable.data());
    } else {
      log::warning_of_all("%.*s is no variable of Urakata's and is ignored; did you mean URAKATA_%.*s?",
                          static_cast<int>(variable.size()), variable.data(), static_cast<int>(near.size()),
                          near.data());
    }
  }
}

}  // namespace urakata
