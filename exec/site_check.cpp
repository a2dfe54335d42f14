// SPDX-License-Identifier: BSD-3-Clause
#include "site_check.hpp"

#include <unistd.h>

#include <array>
#include <functional>

#include "base/options/options.hpp"
#include "job/site_list.hpp"

namespace urakata {
namespace {

Status by_list(const std::function<Status(const job::SiteList&)>& check) {
  const std::string_view wish = options().sites;
  if (!job::SiteList::is_list(wish)) return Nothing{};
  const Result<std::string> text = job::site_list_text(wish);
  if (!text) return text.error();
  const Result<job::SiteList> list = job::read_site_list(wish, *text);
  if (!list) return list.error();
  return check(*list);
}

}  // namespace

Status check_sites(std::span<const std::string> hosts) {
  return by_list([&](const job::SiteList& list) -> Status {
    const auto sites = job::sites_of_hosts(list, hosts);
    if (!sites) return sites.error();
    return Nothing{};
  });
}

Status check_own_site() {
  return by_list([](const job::SiteList& list) -> Status {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const auto site = job::site_of_host(list, name.data());
    if (!site) return site.error();
    return Nothing{};
  });
}

}  // namespace urakata
