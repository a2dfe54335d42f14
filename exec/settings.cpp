#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/site_list.hpp"
#include "cost_file.hpp"

namespace urakata {
namespace {

constexpr const char* kProjectFile = "urakata.toml";

std::string variable(const Option& option) { return "URAKATA_" + std::string(option.name); }

// The value in the environment; an empty variable is one that is not set.
const char* in_environment(const Option& option) {
  const char* value = std::getenv(variable(option).c_str());
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Of several settings of an option the last is in force; nullptr: there is none.
const Setting* last_of(const std::vector<Setting>& settings, const Option& option) {
  const auto last =
      std::find_if(settings.rbegin(), settings.rend(), [&](const Setting& one) { return one.option == &option; });
  return last != settings.rend() ? &*last : nullptr;
}

std::string config_path(const std::vector<Setting>& command_line) {
  const Option& config = **option_named("CONFIG");
  if (const Setting* named = last_of(command_line, config)) return named->value;
  if (const char* named = in_environment(config)) return named;
  return access(kProjectFile, F_OK) == 0 ? kProjectFile : "";
}

}  // namespace

Status apply_settings(const std::vector<Setting>& command_line, AlgorithmCheck algorithm_check) {
  for (const Setting& one : command_line) {
    if (Status good = check_option(*one.option, one.value, algorithm_check); !good) return good;
  }
  for (const Option& option : option_table()) {
    const char* value = in_environment(option);
    if (value == nullptr) continue;
    if (Status good = check_option(option, value, algorithm_check); !good) return good;
  }
  std::vector<Setting> settings;
  if (const std::string path = config_path(command_line); !path.empty()) {
    Result<std::vector<Setting>> read = read_config_file(path, algorithm_check);
    if (!read) return read.error();
    std::ranges::copy_if(*read, std::back_inserter(settings),
                         [](const Setting& one) { return in_environment(*one.option) == nullptr; });
  }
  settings.insert(settings.end(), command_line.begin(), command_line.end());

  // The program has no reader of files in it, and ranks agree on what the file says, not on its name.
  const Option& costs = **option_named("COSTS");
  if (const Setting* const last = last_of(settings, costs)) {
    settings.push_back(*last);
  } else if (const char* const value = in_environment(costs)) {
    settings.push_back({&costs, value, "environment"});
  }
  if (!settings.empty() && settings.back().option == &costs) {
    Setting& setting = settings.back();
    const Result<std::string> list = cost_list(setting.value);
    if (!list) return list.error();
    if (*list != setting.value) setting.origin = setting.value + ", " + setting.origin;
    setting.value = *list;
  }

  // Which hosts there are is known in MPI_Init only; what is written wrongly, here.
  const Option& sites = **option_named("SITES");
  const Setting* const list = last_of(settings, sites);
  const char* const value = list != nullptr ? list->value.c_str() : in_environment(sites);
  if (value != nullptr && SiteList::is_list(value)) {
    const Result<std::string> text = site_list_text(value);
    if (!text) return text.error();
    if (const Result<SiteList> read = read_site_list(value, *text); !read) return read.error();
  }

  std::string origins;
  for (const Option& option : option_table()) {
    const Setting* const last = last_of(settings, option);
    if (last == nullptr) continue;
    setenv(variable(option).c_str(), last->value.c_str(), 1);
    std::string origin = last->origin;
    std::ranges::replace(origin, ';', ',');
    origins += (origins.empty() ? "" : ";") + std::string(option.name) + "=" + origin;
  }
  setenv(kOriginsVariable, origins.c_str(), 1);
  return Nothing{};
}

}  // namespace urakata
