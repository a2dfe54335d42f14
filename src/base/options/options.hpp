// SPDX-License-Identifier: BSD-3-Clause
// The options: one table, the source of the URAKATA_* variables, of urakata-exec's arguments, of the config file's keys
// and of `urakata check --options`.
//
// Precedence: command line, environment, config file, default. urakata-exec reads command line and config file, checks
// every value, and hands all to the program as environment, with URAKATA_ORIGINS to say where each came from. So the
// preloaded library only reads the environment, once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata {

enum class EngineKind : std::uint8_t { native, poll, thread, kernel };
enum class PlacementWish : std::uint8_t { automatic, spare, shared };
// auto: by wire where TCP is the only network between the nodes.
enum class TransportWish : std::uint8_t { automatic, native, wire };
enum class CopyingWish : std::uint8_t { automatic, receiver, sender, both };
// always: automatic, and blocking ones are never left to the MPI library.
enum class NeighborhoodWish : std::uint8_t { automatic, schedules, native, always };
enum class BlockingWish : std::uint8_t { automatic, always, never };  // of other collectives
// auto: by wire where tune/messages_choice.hpp says so.
enum class MessagesWish : std::uint8_t { native, wire, automatic };

enum class OptionKind : std::uint8_t { choice, integer, size, text, cpu_list, algorithms };
// expert: shown with --expert only. test: for tests of Urakata only.
enum class OptionLevel : std::uint8_t { basic, advanced, expert, test };
// Must the ranks of a job have the same value? none: each goes by its own. combined: MPI_Init makes one of all ranks'
// values, which all go by. equal: it decides which messages there are, so ranks that differ share no operation.
enum class Agreement : std::uint8_t { none, combined, equal };

// A row of the table.
struct Option {
  std::string_view name;  // "ENGINE": URAKATA_ENGINE in the environment, --engine, `engine` in the config file
  OptionKind kind;
  OptionLevel level;
  Agreement agreement;
  std::string_view standard;  // the default, as it would be written
  std::string_view unit;      // empty where there is none
  std::string_view sentence;
  std::span<const std::string_view> choices = {};  // kind choice
  std::uint64_t least = 0;                         // kinds integer and size, both ends included
  std::uint64_t most = 0;
};

std::span<const Option> option_table();
// Case does not count, '-' is as good as '_', a leading "URAKATA_" is ignored. An option of the last release is found,
// too, though it is no row: see present_setting(). Error: the nearest name, or all of them.
Result<const Option*> option_named(std::string_view name);
std::string_view name(EngineKind engine);
std::string_view name(PlacementWish placement);
Result<EngineKind> engine_named(std::string_view name);  // error lists the valid names
bool is_switch(const Option& option);                    // 0, 1 or perhaps auto; alone on a command line it means 1
std::string valid_values(const Option& option);          // "native, poll, thread or kernel", "1 to 64"

// Says whether an operation has an algorithm; an empty operation asks whether any operation has it. Base knows no
// algorithms, so whoever does hands this in.
using AlgorithmCheck = Status (*)(std::string_view operation, std::string_view algorithm);

// Is the value good for the option? Error: option, value, valid values. Without a check of algorithms only the form of
// such a value is looked at.
Status check_option(const Option& option, std::string_view value, AlgorithmCheck algorithm_check = nullptr);

// What a setting is in this release.
struct PresentSetting {
  const Option* option;  // nullptr: nothing is set by it
  const char* value;
  std::string line;  // for the user, about an option of the last release; empty: there is nothing to say
};
PresentSetting present_setting(const Option& option, const char* value);

// The value of a row of the table in the environment, also by a name of the last release; nullptr: not set, or empty.
const char* in_environment(const Option& option);
// Are the variables of the last release's options good? Error: as check_option().
Status check_old_variables();

// The values in force. Texts live as long as the process.
struct Options {
  EngineKind engine = EngineKind::thread;
  PlacementWish placement = PlacementWish::automatic;
  std::string_view progress_cpus;  // checked list such as "12-15,20"; empty: placed by topology
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
  // May neighbourhood collectives have channels, or be messages of a space?
  bool neighbours_directly() const {
    return neighborhood == NeighborhoodWish::automatic || neighborhood == NeighborhoodWish::always;
  }
  BlockingWish blocking = BlockingWish::automatic;
  TransportWish transport = TransportWish::automatic;
  MessagesWish wire_messages = MessagesWish::automatic;
  std::uint64_t tag_ub = 0;         // 0: what the MPI library says
  std::string_view wire_interface;  // empty: the fastest that leads to the other nodes
  std::string_view sites;           // "auto", "one", or which nodes are at which site (job/sites.hpp)
  std::string_view link_rates;      // "auto", "measure", or what is known (job/known_links.hpp)
  std::uint32_t lanes = 0;          // site leaders of a site that carry an operation; 0: of least cost
  std::uint32_t connections = 0;    // of each pair of ranks at different nodes; 0: as many as pay
  std::string_view congestion;      // control of connections between sites; empty: the system's
  std::uint64_t peer_timeout_s = 30;
  std::uint64_t peer_timeout_ns() const { return peer_timeout_s * 1'000'000'000U; }

  // The algorithm asked for by name, empty where the choice is Urakata's. An entry "bcast:chain" goes before a bare
  // "chain", which is meant for every operation that has an algorithm of that name (`bare` says that it is such a one,
  // so that an operation without it is no error).
  std::string_view algorithm_for(std::string_view operation, bool* bare = nullptr) const;
};

// Reads the environment at the first call (thread-safe, does not allocate where all values are good). A bad value is
// one line on standard error, and the default stands: urakata-exec has refused such values before the program started,
// so this is only for those who preload by hand.
const Options& options();

// The value in force as it was written, and where it came from: "command line", "environment", "default", or file:line.
std::string_view option_value(const Option& option);
std::string_view option_origin(const Option& option);

// One warning for each URAKATA_* variable that is none of ours, with the nearest name, or an old name of one of ours.
void warn_of_unknown_variables();

// The variable by which urakata-exec passes on where values came from: "ENGINE=command line;SEGMENT=job.toml:3".
inline constexpr const char* kOriginsVariable = "URAKATA_ORIGINS";
// The origin of the option of this name in such a list; empty: it is not there.
std::string_view origin_in(std::string_view list, std::string_view name);
// The variable by which urakata-exec passes on the node's topology; see base/topology.hpp.
inline constexpr const char* kCoresVariable = "URAKATA_CORES";

}  // namespace urakata
