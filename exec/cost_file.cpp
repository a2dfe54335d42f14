// SPDX-License-Identifier: BSD-3-Clause
#include "cost_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "tune/costs.hpp"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace urakata {
namespace {

std::string place(const std::string& path, const toml::source_region& region) {
  return path + ":" + std::to_string(region.begin.line) + ": ";
}

bool is_group(std::string_view name) {
  return std::ranges::find(tune::cost_table(), name, &tune::CostRow::group) != tune::cost_table().end();
}

std::optional<std::string> cost_text(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value<double>(); number && node.is_number()) return tune::written_cost(*number);
  return std::nullopt;
}

// Appends name=value to the list.
Status add(std::string& list, const std::string& path, const std::string& name, const toml::key& key,
           const toml::node& node) {
  const Result<const tune::CostRow*> row = tune::cost_named(name);
  if (!row) return Error{place(path, key.source()) + row.error().message};
  const std::optional<std::string> value = cost_text(node);
  if (!value) return Error{place(path, key.source()) + name + " has a value of the wrong type; write a number"};
  const Result<double> number = tune::cost_value(**row, *value);
  if (!number) return Error{place(path, key.source()) + number.error().message};
  list += (list.empty() ? "" : ",") + name + "=" + tune::written_cost(*number);
  return Nothing{};
}

}  // namespace

Result<std::string> cost_list(const std::string& value) {
  if (value.empty()) return value;
  if (value.find('=') != std::string::npos) {
    if (const Result<tune::Costs> read = tune::read_costs(value); !read) return Error{"COSTS: " + read.error().message};
    return value;
  }
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(value, unknown);  // a folder parses as an empty file
  if (folder || access(value.c_str(), R_OK) != 0) {
    const int failure = folder ? EISDIR : errno;
    return Error{"COSTS: " + value + ": " + std::strerror(failure) + "; name a TOML file, or write name=value,..."};
  }
  const toml::parse_result parsed = toml::parse_file(value);
  if (!parsed) {
    return Error{place(value, parsed.error().source()) + std::string(parsed.error().description()) +
                 "; a TOML file of costs has lines such as step = 2000 below a heading such as [native]"};
  }
  std::string list;
  for (const auto& [group, node] : parsed.table()) {
    const toml::table* const table = node.as_table();
    const std::string name(group.str());
    const auto wrong = [&](std::string_view what) {
      return Error{place(value, group.source()).append(name).append(what)};
    };
    if (table == nullptr && is_group(name)) {
      return wrong(" is a group of costs; write it once, as a heading such as [node], and its costs below");
    }
    if (table == nullptr) return wrong(" stands in no group; write it below a heading such as [node] or [copy]");
    if (table->empty() && !is_group(name))
      return wrong(" is no group of costs; `urakata check --options --expert` lists them");
    for (const auto& [key, cost] : *table) {
      if (Status added = add(list, value, name + "." + std::string(key.str()), key, cost); !added) return added.error();
    }
  }
  return list;
}

}  // namespace urakata
