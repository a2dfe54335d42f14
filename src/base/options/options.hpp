// SPDX-License-Identifier: BSD-3-Clause
// The options: one table, the source of the URAKATA_* variables, of urakata-exec's arguments, of the config file's keys
// and of `urakata check --options`.
//
// Precedence: command line, environment, config file, default. urakata-exec reads command line and config file, checks
// every value, and passes all values to the program in the environment. URAKATA_ORIGINS tells where each came from. So
// the preloaded library only reads the environment, once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata {

enum class EngineKind : std::uint8_t { native, poll, thread, kernel };
enum class PlacementWish : std::uint8_t { automatic, spare, shared };
// automatic: by wire where TCP is the only network between the nodes.
enum class TransportWish : std::uint8_t { automatic, native, wire };
enum class CopyingWish : std::uint8_t { automatic, receiver, sender, both };
// always: as automatic, but blocking neighbourhood collectives are never left to the MPI library.
enum class NeighborhoodWish : std::uint8_t { automatic, schedules, native, always };
enum class BlockingWish : std::uint8_t { automatic, always, never };  // of other collectives
// automatic: by wire where tune/messages_choice.hpp says so.
enum class MessagesWish : std::uint8_t { native, wire, automatic };

enum class OptionKind : std::uint8_t { choice, integer, size, text, cpu_list, algorithms };
// expert: listed with --expert only. test: for tests of Urakata only.
enum class OptionLevel : std::uint8_t { basic, advanced, expert, test };
// Whether the ranks of a job must have the same value. none: each rank uses its own. combined: MPI_Init makes one value
// from those of all ranks, and all use that. equal: the value decides which messages an operation has, so operations of
// ranks with different values fall back.
enum class Agreement : std::uint8_t { none, combined, equal };

// A row of the table.
struct Option {
  std::string_view name;  // "ENGINE": URAKATA_ENGINE in the environment, --engine, `engine` in the config file
  OptionKind kind;
  OptionLevel level;
  Agreement agreement;
  std::string_view standard;  // the default, as it would be written
  std::string_view unit;      // empty: the value has none
  std::string_view sentence;
  std::span<const std::string_view> choices = {};  // of kind choice: the valid words
  std::uint64_t least = 0;                         // of kinds integer and size: the least value
  std::uint64_t most = 0;                          // of kinds integer and size: the largest value
};

std::span<const Option> option_table();
// The option of this name, in static storage. Case does not count, '-' stands for '_', and a leading "URAKATA_" is
// ignored. May be an option of the last release, which is no row of the table: see present_setting(). The error
// suggests the nearest name, or lists all names.
Result<const Option*> option_named(std::string_view name);
std::string_view name(EngineKind engine);
std::string_view name(PlacementWish placement);
Result<EngineKind> engine_named(std::string_view name);  // the error lists the valid names
bool is_switch(const Option& option);                    // takes 0, 1, perhaps auto; without a value it means 1
std::string valid_values(const Option& option);          // "native, poll, thread or kernel", "1 to 64"

// Whether an operation has an algorithm; if `operation` is empty, whether any operation has it. The error tells what is
// wrong. The layer base knows no algorithms, so its callers supply this function.
using AlgorithmCheck = Status (*)(std::string_view operation, std::string_view algorithm);

// Whether the value is valid for the option; an empty one is, and means the default. The error names the option, the
// value and the valid values. Without `algorithm_check`, algorithms are checked for their form only.
Status check_option(const Option& option, std::string_view value, AlgorithmCheck algorithm_check = nullptr);

// What setting `option` to `value` means in this release.
struct PresentSetting {
  const Option* option;  // row of the table; nullptr: the setting sets nothing
  const char* value;     // static, or the argument; nullptr if `option` is
  std::string line;      // tells the user that the option or value is of the last release; empty: nothing to tell
};
PresentSetting present_setting(const Option& option, const char* value);

// The value that the environment gives a row of the table, also by a valid variable of the last release; nullptr: not
// set, or empty. Valid until the environment changes. The value of a present variable is not checked.
const char* in_environment(const Option& option);
// Checks the variables of the last release's options. The error is check_option()'s for the first invalid value.
Status check_old_variables();

// The values in force. Texts live as long as the process.
struct Options {
  EngineKind engine = EngineKind::thread;
  PlacementWish placement = PlacementWish::automatic;
  std::string_view progress_cpus;  // valid list such as "12-15,20"; empty: placed by topology
  std::string_view algorithms;     // see algorithm_for()
  std::uint64_t segment = 0;       // bytes; 0: the algorithm's own
  std::string_view costs;          // tune/costs.hpp reads them
  std::string_view report;         // directory; empty: no report
  bool timeline = false;
  std::string_view config;
  unsigned verbose = 1;
  std::uint64_t nap_us = 0;
  bool space = false;
  CopyingWish space_copy = CopyingWish::automatic;
  bool space_devices = false;
  NeighborhoodWish neighborhood = NeighborhoodWish::automatic;
  // Whether neighbourhood collectives may use channels, or messages of the endpoint.
  bool neighbours_directly() const {
    return neighborhood == NeighborhoodWish::automatic || neighborhood == NeighborhoodWish::always;
  }
  BlockingWish blocking = BlockingWish::automatic;
  TransportWish transport = TransportWish::automatic;
  MessagesWish wire_messages = MessagesWish::automatic;
  std::uint64_t tag_ub = 0;         // the largest tag; 0: the MPI library's
  std::string_view wire_interface;  // empty: the fastest one to the other nodes
  std::string_view sites;           // "auto", "one", or which nodes are at which site (job/sites.hpp)
  std::string_view link_rates;      // "auto", "measure", or what is known (job/known_links.hpp)
  std::uint32_t lanes = 0;          // number of site leaders of a site for an operation; 0: of least cost
  std::uint32_t connections = 0;    // between two ranks on different nodes; 0: as many as pay
  std::string_view congestion;      // congestion control of connections between sites; empty: the system's
  std::uint64_t peer_timeout_s = 30;
  std::uint64_t peer_timeout_ns() const { return peer_timeout_s * 1'000'000'000U; }

  // The algorithm asked for by name; empty: Urakata chooses. An entry "bcast:chain" goes before a bare "chain", which
  // is meant for every operation that has an algorithm of that name. `*bare` becomes whether no entry names the
  // operation: if true, it is no error that the operation has no such algorithm.
  std::string_view algorithm_for(std::string_view operation, bool* bare = nullptr) const;
};

// The first call reads the environment, allocates, and sets the verbosity of base/log.hpp. For an invalid value it
// prints one line on standard error and takes the default: this happens only to users who preload by hand, since
// urakata-exec refuses such values. Thread-safety: by any thread.
const Options& options();

// The value in force as text, and where it came from: "command line", "environment", "default", or file:line. `option`
// must be a row of the table. Both read the environment as options() does.
std::string_view option_value(const Option& option);
std::string_view option_origin(const Option& option);

// Gives a warning, on rank 0, for each URAKATA_* variable that is unknown, with the nearest name; and for each option
// or value of the last release, with the present one.
void warn_of_unknown_variables();

// The variable by which urakata-exec passes on where values came from: "ENGINE=command line;SEGMENT=job.toml:3".
inline constexpr const char* kOriginsVariable = "URAKATA_ORIGINS";
// The origin of the option `name` in a list as URAKATA_ORIGINS has it; empty: the list does not have the option.
std::string_view origin_in(std::string_view list, std::string_view name);
// The variable by which urakata-exec passes on the node's topology; see base/topology.hpp.
inline constexpr const char* kCoresVariable = "URAKATA_CORES";

}  // namespace urakata
