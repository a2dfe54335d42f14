#include "cost_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "tune/costs.hpp"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace urakata {
namespace {

std::string place(const std::string& path, const toml::source_region& region) {
  return path + ":" + std::to_string(region.begin.line) + ": ";
}

std::optional<std::string> written(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value<double>(); number && node.is_number()) return tune::written_cost(*number);
  return std::nullopt;
}

// Appends name=value to the list.
Status add(std::string& list, const std::string& path, const std::string& name, const toml::key& key,
           const toml::node& node) {
  const Result<const tune::CostRow*> row = tune::cost_named(name);
  if (!row) return Error{place(path, key.source()) + row.error().message};
  const std::optional<std::string> value = written(node);
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
  if (access(value.c_str(), R_OK) != 0) {
    return Error{"COSTS: " + value + ": " + std::strerror(errno) + "; name a TOML file, or write name=value,..."};
  }
  const toml::parse_result parsed = toml::parse_file(value);
  if (!parsed) return Error{place(value, parsed.error().source()) + std::string(parsed.error().description())};
  std::string list;
  for (const auto& [group, node] : parsed.table()) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return Error{place(value, group.source()) + std::string(group.str()) +
                   " stands in no group; write it below a heading such as [node] or [copy]"};
    }
    for (const auto& [key, cost] : *table) {
      const std::string name = std::string(group.str()) + "." + std::string(key.str());
      if (Status added = add(list, value, name, key, cost); !added) return added.error();
    }
  }
  return list;
}

}  // namespace urakata
