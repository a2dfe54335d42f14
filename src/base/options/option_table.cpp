// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/option_table.hpp"

#include <cstdint>

#include "base/options/nearest.hpp"
#include "base/options/written.hpp"

namespace urakata {
namespace table {
namespace {

using written::kSwitch;
using written::kSwitchOrAuto;

constexpr std::uint64_t kSizes = std::uint64_t{1} << 62U;

}  // namespace

// Rows in the order of Row.
constexpr std::array<Option, kRows> kTable = {{
    Option{"ENGINE", OptionKind::choice, OptionLevel::basic, Agreement::combined, "thread", "",
           "Who advances operations: the MPI library (nothing is taken over), the program's own MPI calls, a progress "
           "thread, or, between nodes, the Linux kernel",
           kEngines},
    Option{"PLACEMENT", OptionKind::choice, OptionLevel::basic, Agreement::none, "auto", "",
           "Where progress threads run: on a spare core, on the rank's own (shared), or (auto) spare where there is "
           "one, else shared and for messages to other nodes only",
           kPlacements},
    Option{
        "PROGRESS_CPUS", OptionKind::cpu_list, OptionLevel::basic, Agreement::none, "", "",
        "CPUs for the progress threads of this node's ranks, taken in turn (such as 12-15,20), instead of PLACEMENT"},
    Option{
        "ALGORITHM", OptionKind::algorithms, OptionLevel::basic, Agreement::equal, "", "",
        "Algorithm for all sizes: operation:name,... or a name for every operation that has it; empty: chosen by size"},
    Option{"SEGMENT",
           OptionKind::size,
           OptionLevel::expert,
           Agreement::equal,
           "0",
           "bytes",
           "Chunk of pipelined algorithms, with K, M or G if wanted; 0: the algorithm's own",
           {},
           0,
           kSizes},
    Option{
        "COSTS", OptionKind::text, OptionLevel::expert, Agreement::equal, "", "",
        "What messages cost on this machine, for Urakata's choices: a TOML file, or name=value,...; empty: as measured "
        "on the project's machines"},
    Option{"REPORT", OptionKind::text, OptionLevel::basic, Agreement::none, "", "",
           "Directory for the report of each rank; empty: no report"},
    Option{"TIMELINE", OptionKind::choice, OptionLevel::basic, Agreement::none, "0", "",
           "1: the report has every call and every progress thread's work as events (for Perfetto)", kSwitch},
    Option{"CONFIG", OptionKind::text, OptionLevel::basic, Agreement::none, "", "",
           "TOML file with options; empty: urakata.toml in the working directory, if there is one"},
    Option{"VERBOSE",
           OptionKind::integer,
           OptionLevel::basic,
           Agreement::none,
           "1",
           "",
           "Messages: 0 errors, 1 warnings, 2 decisions, 3 everything",
           {},
           0,
           3},
    Option{"NAP_US",
           OptionKind::integer,
           OptionLevel::expert,
           Agreement::none,
           "200",
           "us",
           "A progress thread's longest nap while an operation is pending and the MPI library can only be polled",
           {},
           1,
           1'000'000},
    Option{"SPACE", OptionKind::choice, OptionLevel::basic, Agreement::combined, "0", "",
           "1: the ranks of a node share one address space, where their program can live in one", kSwitch},
    Option{
        "SPACE_COPY", OptionKind::choice, OptionLevel::expert, Agreement::none, "auto", "",
        "Who copies a message of a derived datatype in a space: the receiver in one pass, the sender by packing, both "
        "in pieces, or whoever the layout says (auto)",
        kCopyings},
    Option{
        "SPACE_DEVICES", OptionKind::choice, OptionLevel::expert, Agreement::none, "0", "",
        "1: programs linked to the driver of a GPU are tried in a space, where drivers do not expect several processes",
        kSwitch},
    Option{
        "NEIGHBORHOOD", OptionKind::choice, OptionLevel::advanced, Agreement::equal, "auto", "",
        "Neighbourhood collectives: persistent ones by channels, others in a space by messages, and blocking ones so "
        "where that is faster (auto), or always; schedules: neither, and the MPI library performs blocking ones; "
        "native: it performs all, and halos of urakata.h are its messages",
        kNeighborhoods},
    Option{
        "BLOCKING", OptionKind::choice, OptionLevel::advanced, Agreement::equal, "auto", "",
        "When Urakata handles other blocking collectives, which else are the MPI library's: always, never, or (auto) "
        "where that is faster: those of communicators that span sites, and of those whose ranks share a space; never: "
        "non-blocking ones in a space are schedules, too",
        kBlockingWishes},
    Option{"TRANSPORT", OptionKind::choice, OptionLevel::basic, Agreement::combined, "auto", "",
           "How collectives' messages travel between nodes: through the MPI library, over TCP connections of Urakata's "
           "own (wire), or by wire where TCP is the only network (auto)",
           kTransports},
    Option{"WIRE_MESSAGES", OptionKind::choice, OptionLevel::basic, Agreement::combined, "auto", "",
           "1: the program's own messages to ranks that transport wire reaches go by wire, too; 0: through the MPI "
           "library; auto: by wire where each rank has a node and cores of its own and no better network, and without "
           "a space",
           kSwitchOrAuto},
    Option{"WIRE_INTERFACE", OptionKind::text, OptionLevel::advanced, Agreement::none, "", "",
           "Network interface of transport wire (such as eth1); empty: the fastest that leads to the other nodes"},
    Option{
        "SITES", OptionKind::text, OptionLevel::basic, Agreement::equal, "auto", "",
        "Which nodes are at which site: found by the time of a round trip (auto), all at one (one), a file with a line "
        "for each site, or the lines themselves, such as left:a1 a2;right:b*"},
    Option{"LINK_RATES", OptionKind::text, OptionLevel::basic, Agreement::combined, "auto", "",
           "What the links between sites carry: rank 0's TOML file, to which is added what it lacks (`urakata "
           "check --links`), the user's own file (auto), or measured in MPI_Init and not kept (measure)"},
    Option{"LANES",
           OptionKind::integer,
           OptionLevel::advanced,
           Agreement::equal,
           "0",
           "",
           "How many nodes of a site send and receive what a collective exchanges with other sites; 0: as many as pay",
           {},
           0,
           1024},
    Option{"CONNECTIONS",
           OptionKind::integer,
           OptionLevel::advanced,
           Agreement::equal,
           "0",
           "",
           "TCP connections from a rank to another at another node, in each direction: for collectives between sites, "
           "and for the program's own long messages where these go by wire; 0: as many as pay",
           {},
           0,
           64},
    Option{"CONGESTION", OptionKind::text, OptionLevel::advanced, Agreement::none, "", "",
           "Congestion control of connections between sites (such as bbr); empty: the system's"},
    Option{"TAG_UB",
           OptionKind::integer,
           OptionLevel::test,
           Agreement::combined,
           "0",
           "",
           "The largest tag that Urakata's own messages may have; 0: the MPI library's",
           {},
           0,
           2'147'483'647},
    Option{"PEER_TIMEOUT",
           OptionKind::integer,
           OptionLevel::advanced,
           Agreement::none,
           "30",
           "s",
           "How long a node may leave transport wire without an answer until it counts as gone, and how long a failed "
           "operation waits for messages that the MPI library cannot take back",
           {},
           2,
           86'400},
}};
static_assert(kTable[kPeerTimeout].name == "PEER_TIMEOUT" && kPeerTimeout + 1 == kRows);

constexpr std::array<std::string_view, kRows> kNames = [] {
  std::array<std::string_view, kRows> names;
  for (std::size_t row = 0; row < names.size(); ++row) names[row] = kTable[row].name;
  return names;
}();

namespace {

const char* same_value(const char* value) { return value; }

// `now` of a switch whose default was 1: only 0 still means something.
const char* schedules_if_off(const char* value) {
  return written::switched(value) == std::size_t{0} ? "schedules" : nullptr;
}

constexpr Option switch_that_was_on(std::string_view name) {
  return {name, OptionKind::choice, OptionLevel::advanced, Agreement::none, "1", "", "", kSwitch};
}

constexpr Option number_to_64(std::string_view name) {
  return {name, OptionKind::integer, OptionLevel::advanced, Agreement::none, "0", "", "", {}, 0, 64};
}

}  // namespace

constexpr std::array<OldOption, 6> kOldTable = {{
    {{"HELPER_CPUS", OptionKind::cpu_list, OptionLevel::basic, Agreement::none, "", "", ""}, kProgressCpus, same_value},
    {number_to_64("STREAMS"), kConnections, same_value},
    {number_to_64("WIRE_CONNECTIONS"), kConnections, same_value},
    {switch_that_was_on("EXCHANGE_PLANS"), kNeighborhood, schedules_if_off},
    {switch_that_was_on("EXCHANGE_MESSAGES"), kNeighborhood, schedules_if_off},
    {{"DOMAINS", OptionKind::text, OptionLevel::advanced, Agreement::none, "1", "", ""},
     kRows,
     [](const char*) -> const char* { return nullptr; },
     "a rank has one progress thread"},
}};

const OldOption* old_option(const Option& option) {
  for (const OldOption& old : kOldTable) {
    if (&old.form == &option) return &old;
  }
  return nullptr;
}

const char* present_value(const Option& option, const char* value) {
  for (const OldValue& old : kOldValues) {
    if (&kTable[old.row] == &option && written::same(old.value, value)) return old.now;
  }
  return value;
}

}  // namespace table

using written::choice;
using written::listed;
using written::quoted;

std::span<const Option> option_table() { return table::kTable; }

Result<const Option*> option_named(std::string_view name) {
  std::string_view bare = name;
  if (bare.size() > table::kPrefix.size() && written::same(bare.substr(0, table::kPrefix.size()), table::kPrefix))
    bare.remove_prefix(table::kPrefix.size());
  if (const std::optional<std::size_t> row = choice(table::kNames, bare)) return &table::kTable[*row];
  for (const table::OldOption& old : table::kOldTable) {
    if (written::same(old.form.name, bare)) return &old.form;
  }
  const std::string_view near = nearest(bare, table::kNames);
  return Error{"no option is called " + quoted(name) +
               (near.empty() ? "; the options are " + listed(table::kNames, " and ")
                             : "; did you mean " + std::string(near) + "?")};
}

std::string_view name(EngineKind engine) { return table::kEngines[static_cast<std::size_t>(engine)]; }
std::string_view name(PlacementWish placement) { return table::kPlacements[static_cast<std::size_t>(placement)]; }

Result<EngineKind> engine_named(std::string_view name) {
  if (written::same(name, "host")) return EngineKind::native;  // the last release's name
  if (const std::optional<std::size_t> found = choice(table::kEngines, name)) return static_cast<EngineKind>(*found);
  return Error{"no engine is called " + quoted(name) + "; use " + listed(table::kEngines, " or ")};
}

}  // namespace urakata
