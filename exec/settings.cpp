// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/launcher.hpp"
#include "base/log.hpp"
#include "cost_file.hpp"
#include "job/known_links.hpp"
#include "job/site_list.hpp"
#include "link_file.hpp"
#include "preload.hpp"

namespace urakata {
namespace {

constexpr const char* kProjectFile = "urakata.toml";

std::string variable(const Option& option) { return "URAKATA_" + std::string(option.name); }

// The settings in terms of this release's options. `lines` gets warnings about options of the last release.
std::vector<Setting> present(const std::vector<Setting>& settings, std::vector<std::string>& lines) {
  std::vector<Setting> all;
  for (const Setting& one : settings) {
    const PresentSetting now = present_setting(*one.option, one.value.c_str());
    if (now.option != nullptr) all.push_back({now.option, now.value, one.origin});
    if (!now.line.empty()) lines.push_back(now.line);
  }
  return all;
}

// The last setting of the option, which is the one in force; nullptr: none.
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

// The installation's file: PREFIX/etc/urakata.toml, or /etc/urakata.toml if PREFIX is /usr. Empty: none.
std::string site_path() {
  const std::string program = program_beside("urakata-exec");
  const std::string prefix = program.substr(0, program.rfind("/bin/"));
  const std::string path = (prefix == "/usr" ? "" : prefix) + "/etc/" + kProjectFile;
  return !program.empty() && access(path.c_str(), F_OK) == 0 ? path : "";
}

// Appends a copy of the setting in force to `settings`, and returns it; nullptr: the option has its default.
Setting* in_force(std::vector<Setting>& settings, const Option& option) {
  if (const Setting* const last = last_of(settings, option)) {
    settings.push_back(Setting(*last));
  } else if (const char* const value = in_environment(option)) {
    settings.push_back({&option, value, "environment"});
  } else {
    return nullptr;
  }
  return &settings.back();
}

// The rates in the user's own file, to which the job adds what it measures. If the file does not exist, the job creates
// it. The user did not name it for this job. So a file that is broken, or that another user could have written, is no
// error: it is not used.
Setting users_rates(const Option& rates) {
  const std::string users = users_link_file();
  if (users.empty()) return {&rates, std::string(job::kMeasureLinks), "nobody knows where the user's file would be"};
  const auto not_used = [&](const std::string& why) {
    log::warning("%s; the links between sites are measured, and what they carry is not kept", why.c_str());
    return Setting{&rates, std::string(job::kMeasureLinks), "the user's file is not used"};
  };
  const std::string origin = "the user's file";
  if (access(users.c_str(), F_OK) != 0) return {&rates, job::handed_on({.links = {}, .file = users}), origin};
  if (const Status good = job::trusted(users); !good) return not_used(good.error().message);
  const Result<std::string> known = known_links_of(users);
  return known ? Setting{&rates, *known, origin} : not_used(known.error().message);
}

// Replaces the files that options name by their contents. The preloaded library reads no files, and ranks compare
// contents, not names.
Status read_files(std::vector<Setting>& settings) {
  const auto replace = [](Setting& setting, const std::string& value) {
    if (value != setting.value) setting.origin = setting.value + ", " + setting.origin;
    setting.value = value;
  };
  if (Setting* const costs = in_force(settings, **option_named("COSTS"))) {
    const Result<std::string> list = cost_list(costs->value);
    if (!list) return list.error();
    replace(*costs, *list);
  }
  // Rank 0's rates count, and other nodes need not have the file.
  const Option& rates = **option_named("LINK_RATES");
  if (launcher().rank > 0) {
    settings.push_back({&rates, std::string(job::kMeasureLinks), "rank 0's counts"});
    return Nothing{};
  }
  Setting* setting = in_force(settings, rates);
  if (setting == nullptr || setting->value.empty() || setting->value == job::kUsersLinks) {
    settings.push_back(users_rates(rates));
    return Nothing{};
  }
  // Keeps the rates that an outer urakata-exec has read.
  if (setting->value == job::kMeasureLinks || job::read_known_links(setting->value).ok()) return Nothing{};
  const Result<std::string> known = known_links_of(setting->value);
  if (!known) return known.error();
  replace(*setting, *known);
  return Nothing{};
}

}  // namespace

Status apply_settings(const std::vector<Setting>& given, AlgorithmCheck algorithm_check) {
  for (const Setting& one : given) {
    if (Status good = check_option(*one.option, one.value, algorithm_check); !good) return good;
  }
  if (Status good = check_old_variables(); !good) return good;
  for (const Option& option : option_table()) {
    const char* value = in_environment(option);
    if (value == nullptr) continue;
    if (Status good = check_option(option, value, algorithm_check); !good) return good;
  }
  std::vector<std::string> lines;
  const std::vector<Setting> command_line = present(given, lines);
  std::vector<Setting> settings;
  // Later settings override earlier ones. An outer urakata-exec has read the files already, perhaps in another
  // directory.
  const bool within =
      std::getenv(kOriginsVariable) != nullptr && last_of(command_line, **option_named("CONFIG")) == nullptr;
  for (const std::string& path : {site_path(), config_path(command_line)}) {
    if (path.empty() || within) continue;
    Result<std::vector<Setting>> read = read_config_file(path, algorithm_check);
    if (!read) return read.error();
    std::ranges::copy_if(present(*read, lines), std::back_inserter(settings),
                         [](const Setting& one) { return in_environment(*one.option) == nullptr; });
  }
  settings.insert(settings.end(), command_line.begin(), command_line.end());

  if (Status read = read_files(settings); !read) return read.error();

  // Finds errors of syntax; site_check.hpp compares the sites with the hosts.
  const Option& sites = **option_named("SITES");
  const Setting* const list = last_of(settings, sites);
  const char* const value = list != nullptr ? list->value.c_str() : in_environment(sites);
  if (value != nullptr && job::SiteList::is_list(value)) {
    const Result<std::string> text = job::site_list_text(value);
    if (!text) return text.error();
    if (const Result<job::SiteList> read = job::read_site_list(value, *text); !read) return read.error();
  }

  const char* const known = std::getenv(kOriginsVariable);
  const std::string before = known != nullptr ? known : "";  // set by an outer urakata-exec
  std::string origins;
  for (const Option& option : option_table()) {
    const Setting* const last = last_of(settings, option);
    if (last == nullptr) {
      const std::string origin(origin_in(before, option.name));
      if (!origin.empty() && in_environment(option) != nullptr) {
        origins += (origins.empty() ? "" : ";") + std::string(option.name) + "=" + origin;
      }
      continue;
    }
    setenv(variable(option).c_str(), last->value.c_str(), 1);
    std::string origin = last->origin;
    std::ranges::replace(origin, ';', ',');
    origins += (origins.empty() ? "" : ";") + std::string(option.name) + "=" + origin;
  }
  setenv(kOriginsVariable, origins.c_str(), 1);
  log::set_verbosity(options().verbose);
  for (const std::string& line : lines) log::warning_of_all("%s", line.c_str());
  return Nothing{};
}

}  // namespace urakata
