#include "base/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "base/log.hpp"
#include "base/nearest.hpp"

namespace urakata {
namespace {

using namespace std::string_view_literals;

constexpr std::array kEngines = {"host"sv, "poll"sv, "thread"sv};      // as EngineKind
constexpr std::array kPlacements = {"auto"sv, "spare"sv, "shared"sv};  // as PlacementWish
constexpr std::array kSwitch = {"0"sv, "1"sv};
constexpr std::array kCopyings = {"auto"sv, "receiver"sv, "sender"sv, "both"sv};  // as CopyingWish
constexpr std::array kTransports = {"auto"sv, "host"sv, "wire"sv};                // as TransportWish
constexpr std::uint64_t kSizes = std::uint64_t{1} << 62U;

// Rows in the order of Row.
constexpr std::array kTable = {
    Option{"ENGINE", OptionKind::choice, OptionLevel::basic, "thread", "",
           "Who advances operations: the host MPI (nothing is taken over), the program's own MPI calls, or a helper "
           "thread",
           kEngines},
    Option{"PLACEMENT", OptionKind::choice, OptionLevel::basic, "auto", "",
           "Where helpers run: on a spare core, on the rank's own (shared), or spare where there is one (auto)",
           kPlacements},
    Option{"HELPER_CPUS", OptionKind::cpu_list, OptionLevel::basic, "", "",
           "CPUs for the helpers of this node's ranks, taken in turn (such as 12-15,20), instead of PLACEMENT"},
    Option{"DOMAINS",
           OptionKind::integer,
           OptionLevel::advanced,
           "1",
           "",
           "Progress domains: how many helpers a rank has; communicators are dealt out to them",
           {},
           1,
           64},
    Option{
        "ALGORITHM", OptionKind::algorithms, OptionLevel::basic, "", "",
        "Algorithm for all sizes: operation:name,... or a name for every operation that has it; empty: chosen by size"},
    Option{"SEGMENT",
           OptionKind::size,
           OptionLevel::advanced,
           "0",
           "bytes",
           "Chunk of pipelined algorithms, with K, M or G if wanted; 0: the algorithm's own",
           {},
           0,
           kSizes},
    Option{"REPORT", OptionKind::text, OptionLevel::basic, "", "",
           "Directory for the report of each rank; empty: no report"},
    Option{"TIMELINE", OptionKind::choice, OptionLevel::basic, "0", "",
           "1: the report has every call and every helper's work as events (for Perfetto)", kSwitch},
    Option{"CONFIG", OptionKind::text, OptionLevel::basic, "", "",
           "TOML file with options; empty: urakata.toml in the working directory, if there is one"},
    Option{"VERBOSE",
           OptionKind::integer,
           OptionLevel::basic,
           "1",
           "",
           "Messages: 0 errors, 1 warnings, 2 decisions, 3 everything",
           {},
           0,
           3},
    Option{"NAP_US",
           OptionKind::integer,
           OptionLevel::advanced,
           "200",
           "us",
           "A helper's longest nap while an operation is pending and the host can only be polled",
           {},
           1,
           1'000'000},
    Option{"SPACE", OptionKind::choice, OptionLevel::basic, "0", "",
           "1: the ranks of a node share one address space, where their program can live in one", kSwitch},
    Option{
        "SPACE_COPY", OptionKind::choice, OptionLevel::advanced, "auto", "",
        "Who copies a message of a derived datatype in a space: the receiver in one pass, the sender by packing, both "
        "in pieces, or whoever the layout says (auto)",
        kCopyings},
    Option{"TRANSPORT", OptionKind::choice, OptionLevel::basic, "auto", "",
           "How collectives' messages travel between nodes: through the host, over TCP connections of Urakata's own "
           "(wire), or by wire where TCP is the only network (auto)",
           kTransports},
    Option{"WIRE_INTERFACE", OptionKind::text, OptionLevel::advanced, "", "",
           "Network interface of transport wire (such as eth1); empty: the fastest that leads to the other nodes"},
};

enum Row : std::size_t {
  kEngine,
  kPlacement,
  kHelperCpus,
  kDomains,
  kAlgorithm,
  kSegment,
  kReport,
  kTimeline,
  kConfig,
  kVerbose,
  kNap,
  kSpace,
  kSpaceCopy,
  kTransport,
  kWireInterface
};
static_assert(kTable[kWireInterface].name == "WIRE_INTERFACE" && kTable.size() == kWireInterface + 1);

constexpr std::string_view kPrefix = "URAKATA_";

// Variables that urakata-exec and the Python command use among themselves.
constexpr std::array kInternal = {"URAKATA_ORIGINS"sv,       "URAKATA_CORES"sv,    "URAKATA_TEST_FULL"sv,
                                  "URAKATA_MEASURE_START"sv, "URAKATA_SPACE_AT"sv, "URAKATA_SPACE_REFUSED"sv};

constexpr auto kNames = [] {
  std::array<std::string_view, kTable.size()> names;
  for (std::size_t row = 0; row < names.size(); ++row) names[row] = kTable[row].name;
  return names;
}();

bool same(std::string_view a, std::string_view b) {
  const auto plain = [](char letter) {
    return letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  };
  return std::ranges::equal(a, b, [&](char x, char y) { return plain(x) == plain(y); });
}

std::optional<std::size_t> choice(std::span<const std::string_view> choices, std::string_view value) {
  const auto found = std::ranges::find_if(choices, [&](std::string_view one) { return same(one, value); });
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

// Words for a switch, besides 0 and 1.
std::optional<std::size_t> switched(std::string_view value) {
  if (same(value, "true") || same(value, "on") || same(value, "yes")) return 1;
  if (same(value, "false") || same(value, "off") || same(value, "no")) return 0;
  return choice(kSwitch, value);
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "65536", "64K", "64KiB", "1M"; K is 1024.
std::optional<std::uint64_t> size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> value = number(text.substr(0, digits));
  if (!value) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  unsigned shift = 0;
  if (unit.empty() || same(unit, "B")) return value;
  for (const char letter : {'K', 'M', 'G'}) {
    shift += 10;
    const std::array<char, 3> words = {letter, 'i', 'B'};
    const bool plain = same(unit, {words.data(), 1}) || same(unit, {words.data(), 3});
    if (plain || (unit.size() == 2 && same(unit.substr(0, 1), {words.data(), 1}) && same(unit.substr(1), "B"))) {
      if (*value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
      return *value << shift;
    }
  }
  return std::nullopt;
}

// Cuts the part before the separator off the front of `rest`.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

bool good_cpu_list(std::string_view list) {
  if (!list.empty() && list.back() == ',') return false;
  while (!list.empty()) {
    std::string_view range = cut(list, ',');
    const bool single = range.find('-') == std::string_view::npos;
    const std::optional<std::uint64_t> first = number(cut(range, '-'));
    const std::optional<std::uint64_t> last = single ? first : number(range);
    if (!first || !last || *last < *first || *last >= 4096) return false;
  }
  return true;
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

Error bad(const Option& option, std::string_view value, const std::string& why) {
  return Error{std::string(kPrefix) + std::string(option.name) + "=" + std::string(value) + ": " + why};
}

Status check_algorithms(const Option& option, std::string_view value, AlgorithmCheck algorithm_check) {
  std::string_view rest = value;
  while (!rest.empty()) {
    std::string_view algorithm = cut(rest, ',');
    std::string_view operation;
    if (algorithm.find(':') != std::string_view::npos) {
      operation = cut(algorithm, ':');
      if (operation.empty()) return bad(option, value, "an operation is missing before ':'; " + valid_values(option));
    }
    if (algorithm.empty()) return bad(option, value, "a name is missing; " + valid_values(option));
    if (algorithm_check == nullptr) continue;
    if (Status status = algorithm_check(operation, algorithm); !status)
      return bad(option, value, status.error().message);
  }
  return Nothing{};
}

// The values and origins in force, read once. Texts are copied, since a program may change its environment later.
class Settings {
 public:
  Settings() {
    take_texts();
    for (std::size_t row = 0; row < kTable.size(); ++row) {
      if (values_[row].empty()) values_[row] = kTable[row].standard;
    }
    apply();
  }

  const Options& values() const { return options_; }
  std::string_view value(std::size_t row) const { return values_[row]; }
  std::string_view origin(std::size_t row) const { return origins_[row]; }

 private:
  static constexpr std::size_t kTexts = 16384;

  void take_texts() {
    const char* named = std::getenv(kOriginsVariable);
    const std::string_view origins = keep(named != nullptr ? named : "");
    for (std::size_t row = 0; row < kTable.size(); ++row) {
      origins_[row] = "default";
      std::array<char, 64> variable{};
      std::copy(kTable[row].name.begin(), kTable[row].name.end(),
                std::copy(kPrefix.begin(), kPrefix.end(), variable.begin()));
      const char* value = std::getenv(variable.data());
      if (value == nullptr || *value == '\0') continue;
      if (const Status status = check_option(kTable[row], value); !status) {
        log::error("%s; the default is used", status.error().message.c_str());
        continue;
      }
      values_[row] = keep(value);
      origins_[row] = "environment";
      for (std::string_view rest = origins; !rest.empty();) {
        std::string_view origin = cut(rest, ';');
        if (cut(origin, '=') == kTable[row].name) origins_[row] = origin;
      }
    }
  }

  void apply() {
    options_.engine = static_cast<EngineKind>(choice(kEngines, values_[kEngine]).value_or(0));
    options_.placement = static_cast<PlacementWish>(choice(kPlacements, values_[kPlacement]).value_or(0));
    options_.helper_cpus = values_[kHelperCpus];
    options_.domains = static_cast<std::uint32_t>(number(values_[kDomains]).value_or(1));
    options_.algorithms = values_[kAlgorithm];
    options_.segment = size(values_[kSegment]).value_or(0);
    options_.report = values_[kReport];
    options_.timeline = switched(values_[kTimeline]).value_or(0) == 1;
    options_.config = values_[kConfig];
    options_.verbose = static_cast<unsigned>(number(values_[kVerbose]).value_or(1));
    options_.space = switched(values_[kSpace]).value_or(0) == 1;
    options_.space_copy = static_cast<CopyingWish>(choice(kCopyings, values_[kSpaceCopy]).value_or(0));
    options_.transport = static_cast<TransportWish>(choice(kTransports, values_[kTransport]).value_or(0));
    options_.wire_interface = values_[kWireInterface];
    options_.nap_us = number(values_[kNap]).value_or(0);
    log::set_verbosity(options_.verbose);
  }

  // A copy that lives as long as the process; what does not fit is refused with a line.
  std::string_view keep(std::string_view text) {
    if (text.size() > kTexts - used_) {
      log::error("the URAKATA_ variables are longer than %zu bytes in all; the rest is ignored", kTexts);
      return {};
    }
    char* place = texts_.data() + used_;
    std::ranges::copy(text, place);
    used_ += text.size();
    return {place, text.size()};
  }

  std::array<char, kTexts> texts_;
  std::size_t used_ = 0;
  std::array<std::string_view, kTable.size()> values_;
  std::array<std::string_view, kTable.size()> origins_;
  Options options_;
};

const Settings& settings() {
  static const Settings read;
  return read;
}

std::size_t row_of(const Option& option) { return static_cast<std::size_t>(&option - kTable.data()); }

std::string listed(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::span<const Option> option_table() { return kTable; }

Result<const Option*> option_named(std::string_view name) {
  std::string_view bare = name;
  if (bare.size() > kPrefix.size() && same(bare.substr(0, kPrefix.size()), kPrefix)) bare.remove_prefix(kPrefix.size());
  if (const std::optional<std::size_t> row = choice(kNames, bare)) return &kTable[*row];
  const std::string_view near = nearest(bare, kNames);
  return Error{
      "no option is called " + quoted(name) +
      (near.empty() ? "; the options are " + listed(kNames, " and ") : "; did you mean " + std::string(near) + "?")};
}

std::string_view name(EngineKind engine) { return kEngines[static_cast<std::size_t>(engine)]; }
std::string_view name(PlacementWish placement) { return kPlacements[static_cast<std::size_t>(placement)]; }

Result<EngineKind> engine_named(std::string_view name) {
  if (const std::optional<std::size_t> found = choice(kEngines, name)) return static_cast<EngineKind>(*found);
  return Error{"no engine is called " + quoted(name) + "; use " + listed(kEngines, " or ")};
}

bool is_switch(const Option& option) { return option.choices.data() == kSwitch.data(); }

std::string valid_values(const Option& option) {
  switch (option.kind) {
    case OptionKind::choice:
      return listed(option.choices, " or ");
    case OptionKind::integer:
      return std::to_string(option.least) + " to " + std::to_string(option.most);
    case OptionKind::size:
      return "a number of bytes, with K, M or G if wanted";
    case OptionKind::cpu_list:
      return "a list of CPU numbers such as 12-15,20";
    case OptionKind::algorithms:
      return "operation:algorithm,... or an algorithm's name";
    case OptionKind::text:
      break;
  }
  return "any text";
}

Status check_option(const Option& option, std::string_view value, AlgorithmCheck algorithm_check) {
  bool good = true;
  if (value.empty()) return Nothing{};  // the default
  switch (option.kind) {
    case OptionKind::choice:
      good = is_switch(option) ? switched(value).has_value() : choice(option.choices, value).has_value();
      break;
    case OptionKind::integer:
    case OptionKind::size: {
      const std::optional<std::uint64_t> found = option.kind == OptionKind::size ? size(value) : number(value);
      good = found && *found >= option.least && *found <= option.most;
      break;
    }
    case OptionKind::cpu_list:
      good = good_cpu_list(value);
      break;
    case OptionKind::algorithms:
      return check_algorithms(option, value, algorithm_check);
    case OptionKind::text:
      break;
  }
  if (!good) return bad(option, value, "not a valid value; use " + valid_values(option));
  return Nothing{};
}

std::string_view Options::algorithm_for(std::string_view operation, bool* bare) const {
  std::string_view meant_for_all;
  for (std::string_view rest = algorithms; !rest.empty();) {
    std::string_view algorithm = cut(rest, ',');
    if (algorithm.find(':') == std::string_view::npos) {
      if (meant_for_all.empty()) meant_for_all = algorithm;
    } else if (same(cut(algorithm, ':'), operation)) {
      if (bare != nullptr) *bare = false;
      return algorithm;
    }
  }
  if (bare != nullptr) *bare = true;
  return meant_for_all;
}

const Options& options() { return settings().values(); }
std::string_view option_value(const Option& option) { return settings().value(row_of(option)); }
std::string_view option_origin(const Option& option) { return settings().origin(row_of(option)); }

void warn_of_unknown_variables() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view rest = *entry;
    if (!rest.starts_with(kPrefix)) continue;
    const std::string_view variable = cut(rest, '=');
    const std::string_view bare = variable.substr(kPrefix.size());
    if (std::ranges::find(kInternal, variable) != kInternal.end() || std::ranges::find(kNames, bare) != kNames.end())
      continue;
    const std::string_view near = nearest(bare, kNames);
    if (near.empty()) {
      log::warning_of_all("%.*s is no variable of Urakata's and is ignored; `urakata info` lists them",
                          static_cast<int>(variable.size()), variable.data());
    } else {
      log::warning_of_all("%.*s is no variable of Urakata's and is ignored; did you mean URAKATA_%.*s?",
                          static_cast<int>(variable.size()), variable.data(), static_cast<int>(near.size()),
                          near.data());
    }
  }
}

}  // namespace urakata
