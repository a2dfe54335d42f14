// SPDX-License-Identifier: BSD-3-Clause
#include "site_check.hpp"

#include <unistd.h>

#include <array>
#include <functional>

#include "base/options.hpp"
#include "base/site_list.hpp"

namespace urakata {
namespace {

Status by_list(const std::function<Status(const SiteList&)>& check) {
  const std::string_view wish = options().sites;
  if (!SiteList::is_list(wish)) return Nothing{};
  const Result<std::string> text = site_list_text(wish);
  if (!text) return text.error();
  const Result<SiteList> list = read_site_list(wish, *text);
  if (!list) return list.error();
  return check(*list);
}

}  // namespace

Status check_sites(std::span<const std::string> hosts) {
  return by_list([&](const SiteList& list) -> Status {
    const auto sites = sites_of_hosts(list, hosts);
    if (!sites) return sites.error();
    return Nothing{};
  });
}

Status check_own_site() {
  return by_list([](const SiteList& list) -> Status {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const auto site = site_of_host(list, name.data());
    if (!site) return site.error();
    return Nothing{};
  });
}

}  // namespace urakata
