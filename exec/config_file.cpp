// SPDX-License-Identifier: BSD-3-Clause
#include "config_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace urakata {
namespace {

// The value as it would be written in the environment; nullopt: no option has a value of this type.
std::optional<std::string> written(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "1" : "0";
  std::string list;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) {
      const std::optional<std::string> one = element.is_array() ? std::nullopt : written(element);
      if (!one) return std::nullopt;
      list += (list.empty() ? "" : ",") + *one;
    }
    return list;
  }
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      const auto one = value.value_exact<std::string>();
      if (!one) return std::nullopt;
      list += (list.empty() ? "" : ",") + std::string(key.str()) + ":" + *one;
    }
    return list;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Setting>> read_config_file(const std::string& path, AlgorithmCheck algorithm_check) {
  if (access(path.c_str(), R_OK) != 0) return Error{path + ": " + std::strerror(errno)};
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    return Error{path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                 std::string(parsed.error().description())};
  }
  std::vector<Setting> settings;
  for (const auto& [key, node] : parsed.table()) {
    const std::string origin = path + ":" + std::to_string(key.source().begin.line);
    const Result<const Option*> option = option_named(key.str());
    if (!option) return Error{origin + ": " + option.error().message};
    const bool table = node.is_table() && (*option)->kind != OptionKind::algorithms;
    const std::optional<std::string> value = table ? std::nullopt : written(node);
    if (!value)
      return Error{origin + ": " + std::string(key.str()) + " has a value of the wrong type; use " +
                   valid_values(**option)};
    if (const Status good = check_option(**option, *value, algorithm_check); !good) {
      return Error{origin + ": " + good.error().message};
    }
    settings.push_back({*option, *value, origin});
  }
  return settings;
}

}  // namespace urakata
