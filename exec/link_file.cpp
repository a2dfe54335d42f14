// SPDX-License-Identifier: BSD-3-Clause
#include "link_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/options/nearest.hpp"
#include "job/known_links.hpp"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace urakata {
namespace {

struct Number {
  std::string_view key;
  double LinkFacts::*fact;
  double unit;  // factor from the file's number to the value
  double least, most;
  std::string_view range;
  bool needed = true;
};
constexpr double kMegabit = 125e3;  // bytes/s
constexpr std::string_view kRates = "0.001 to 10000000 Mb/s";
constexpr std::array kNumbers = {
    Number{"delay_ms", &LinkFacts::delay, 1e-3, 0.001, 60'000, "0.001 to 60000 ms"},
    Number{"stream_mbit", &LinkFacts::stream, kMegabit, 0.001, 1e7, kRates},
    Number{"pair_mbit", &LinkFacts::pair, kMegabit, 0.001, 1e7, kRates},
    Number{"link_mbit", &LinkFacts::link, kMegabit, 0.001, 1e7, kRates},
    Number{"inside_mbit", &LinkFacts::inside, kMegabit, 0.001, 1e7, kRates, false},
    Number{"loss_percent", &LinkFacts::loss, 0.01, 0, 100, "0 to 100 percent", false},
};
constexpr std::array<std::string_view, 4> kOtherKeys = {"one", "other", "outdated", "date"};

std::string unknown(std::string_view key) {
  std::vector<std::string_view> keys(kOtherKeys.begin(), kOtherKeys.end());
  for (const Number& number : kNumbers) keys.push_back(number.key);
  const std::string_view near = nearest(key, keys);
  return std::string(key) + " is nothing that a link has; " +
         (near.empty() ? "`urakata check --links` writes such tables" : "did you mean " + std::string(near) + "?");
}

// Reads one table [[link]].
class Entry {
 public:
  Entry(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Result<job::KnownLink> read() {
    job::KnownLink link;
    for (const auto& [key, node] : table_) {
      if (Status read = take(link, key.str(), node); !read) return read.error();
    }
    for (const std::string_view key : {"one", "other"}) {
      if (!table_.contains(key)) {
        return wrong(table_, "a link without " + std::string(key) +
                                 "; write the hosts of each of its sites: one = [\"a1\"] and other = [\"b1\", \"b2\"]");
      }
    }
    if (link.outdated) return link;
    for (const Number& number : kNumbers) {
      if (number.needed && !table_.contains(number.key)) {
        return wrong(table_, "a link without " + std::string(number.key) +
                                 "; write it, or remove the table: a job measures "
                                 "what is not there");
      }
    }
    const LinkFacts& facts = link.facts;
    if (facts.pair < facts.stream || facts.link < facts.pair) {
      const bool pair = facts.pair < facts.stream;
      return wrong(
          *table_.get(pair ? "pair_mbit" : "link_mbit"),
          pair ? "pair_mbit is below stream_mbit, but two nodes carry no less than one connection of theirs does"
               : "link_mbit is below pair_mbit, but all nodes carry no less than two of them do");
    }
    return link;
  }

 private:
  Error wrong(const toml::node& at, const std::string& what) const {
    return Error{path_ + ":" + std::to_string(at.source().begin.line) + ": " + what};
  }

  Status take(job::KnownLink& link, std::string_view key, const toml::node& node) {
    if (key == "one" || key == "other") return take_hosts(key == "one" ? link.one : link.other, key, node);
    if (key == "outdated") {
      const auto flag = node.value_exact<bool>();
      if (!flag) return wrong(node, "outdated is true or false");
      link.outdated = *flag;
      return Nothing{};
    }
    if (key == "date") return Nothing{};
    for (const Number& number : kNumbers) {
      if (number.key != key) continue;
      const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
      if (!value || !(*value >= number.least && *value <= number.most)) {
        return wrong(node, std::string(key) + " cannot be that; write a number from " + std::string(number.range));
      }
      link.facts.*number.fact = *value * number.unit;
      return Nothing{};
    }
    return wrong(node, unknown(key));
  }

  Status take_hosts(std::vector<std::string>& hosts, std::string_view key, const toml::node& node) {
    const std::string how = "; write names of hosts, or patterns for them: " + std::string(key) + " = [\"a1\", \"b*\"]";
    const toml::array* const array = node.as_array();
    if (array == nullptr || array->empty()) return wrong(node, std::string(key) + " is no list of hosts" + how);
    for (const toml::node& one : *array) {
      const auto host = one.value_exact<std::string>();
      if (!host || host->empty() || host->find_first_of(" |;@\n") != std::string::npos) {
        return wrong(one, std::string(key) + " has something that is no host's name" + how);
      }
      hosts.push_back(*host);
    }
    return Nothing{};
  }

  const std::string& path_;
  const toml::table& table_;
};

}  // namespace

std::string users_link_file() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder != '\0') {
    return std::string(folder) + "/urakata/links.toml";
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.config/urakata/links.toml" : "";
}

Result<std::string> known_links_of(const std::string& path) {
  std::error_code unknown_error;
  const bool folder = std::filesystem::is_directory(path, unknown_error);  // a folder parses as an empty file
  if (folder || access(path.c_str(), R_OK) != 0) {
    return Error{"LINK_RATES: " + path + ": " + std::strerror(folder ? EISDIR : errno) +
                 "; `urakata check --links --file " + path +
                 "` makes it, an empty file is filled by the next job, and measure "
                 "does without"};
  }
  const toml::parse_result parsed = toml::parse_file(path);
  const std::string how = "; tables [[link]] are all that such a file has (`urakata check --links` writes them)";
  if (!parsed) {
    return Error{path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                 std::string(parsed.error().description()) + how};
  }
  job::KnownLinks known;
  known.file = std::filesystem::absolute(path, unknown_error).string();
  for (const auto& [key, node] : parsed.table()) {
    const toml::array* const links = node.as_array();
    if (key.str() != "link" || links == nullptr || !links->is_homogeneous(toml::node_type::table)) {
      std::string message = path + ":" + std::to_string(key.source().begin.line) + ": ";
      return Error{message.append(key.str()).append(" is none of them").append(how)};
    }
    for (const toml::node& one : *links) {
      Result<job::KnownLink> link = Entry(path, *one.as_table()).read();
      if (!link) return link.error();
      known.links.push_back(std::move(*link));
    }
  }
  // Linux takes variables of at most 128 KiB, name included.
  constexpr std::size_t kMostHandedOn = 126UL * 1024;
  std::string form = job::handed_on(known);
  if (form.size() > kMostHandedOn) return Error{path + " has more links than a job can be given; take out old ones"};
  return form;
}

}  // namespace urakata
