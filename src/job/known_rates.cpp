// SPDX-License-Identifier: BSD-3-Clause
#include "job/known_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>

#include "job/known_links.hpp"
#include "job/rank_0_text.hpp"

namespace urakata::job {

namespace {

constexpr double kNoise = 0.5e-3;       // s, of a round trip
constexpr double kFirstFlight = 14600;  // bytes that TCP sends before the first answer

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  localtime_r(&now, &date);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &date);
  return text.data();
}

bool apart(double one, double other) { return one > kTolerance * other || other > kTolerance * one; }

std::string compared(const Sites& sites, std::size_t one, std::size_t other, double now_s, double then_s,
                     const std::string& file) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "the round trip between the sites %s and %s is %.1f ms, and not %.1f as ",
                sites.names[one].c_str(), sites.names[other].c_str(), now_s * 1e3, then_s * 1e3);
  return text.data() + file + " says: the link is measured anew";
}

}  // namespace

Result<KnownRates> known_rates(Bootstrap& world, const Sites& sites, std::string_view value,
                               std::string_view host_name) {
  KnownRates known;
  known.of.resize(sites.count * sites.count);
  known.hosts.resize(sites.count);
  std::array<char, 256> name{};
  std::ranges::copy(host_name.substr(0, name.size() - 1), name.begin());
  const auto names = world.gathered(name);
  if (names.empty()) return Error{"the MPI library refuses"};
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    auto& hosts = known.hosts[static_cast<std::size_t>(sites.of[rank])];
    if (std::ranges::find(hosts, names[rank].data()) == hosts.end()) hosts.emplace_back(names[rank].data());
  }
  const Result<std::string> text = text_of_rank_0(world, std::string(value));
  if (!text.ok()) return text.error();
  if (*text == kUsersLinks || *text == kMeasureLinks) return known;
  const Result<KnownLinks> read = read_known_links(*text);
  if (!read.ok()) return Error{"LINK_RATES: " + read.error().message};
  known.file = read->file;
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      const KnownLink* const link = read->between(known.hosts[one], known.hosts[other]);
      if (link == nullptr) continue;
      const double now_s = sites.round_trip_us[one * sites.count + other] * 1e-6, then_s = 2 * link->facts.delay;
      if (now_s != 0 && std::abs(now_s - then_s) > kNoise && apart(now_s, then_s)) {
        known.changed.push_back(compared(sites, one, other, now_s, then_s, known.file));
        continue;
      }
      known.of[one * sites.count + other] = known.of[other * sites.count + one] = link->facts;
    }
  }
  return known;
}

std::string new_entries(const KnownRates& before, const LinkTable& now, const Sites& sites) {
  std::string text;
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      const std::size_t at = one * sites.count + other;
      if (before.of[at] || !now[at]) continue;
      text += entry({.one = before.hosts[one], .other = before.hosts[other], .facts = *now[at]}, today());
    }
  }
  return text;
}

std::vector<Misjudged> misjudged(std::span<const Carried> carried, const LinkRates& links, const Sites& sites) {
  std::vector<Misjudged> found;
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = 0; other < sites.count; ++other) {
      const auto& facts = links.of[one * sites.count + other];
      if (one == other || !facts) continue;
      // Only the rank that has sent most is judged. The others are taken to have sent in proportion at the same time.
      const Carried* most = nullptr;
      std::uint64_t total = 0;
      for (std::size_t rank = 0; rank < sites.of.size(); ++rank) {
        if (sites.of[rank] != static_cast<std::int32_t>(one)) continue;
        const Carried& each = carried[rank * sites.count + other];
        total += each.bytes_in_all;
        if (most == nullptr || each.bytes_in_all > most->bytes_in_all) most = &each;
      }
      if (most == nullptr || most->bytes == 0) continue;
      const double senders =
          std::min<double>(links.nodes[one], static_cast<double>(total) / static_cast<double>(most->bytes_in_all));
      const double bytes = static_cast<double>(most->bytes), connections = most->connections;
      const double alone = std::min(connections * facts->stream, facts->link);
      const double shared = std::min({connections * facts->stream, facts->pair, facts->link / senders});
      const double round_trip = 2 * facts->delay;
      const double begins = round_trip * std::log2(1 + bytes / (connections * kFirstFlight));
      const bool faster = round_trip + bytes / alone > kTolerance * most->seconds;
      const bool slower = most->seconds > kTolerance * (round_trip + begins + bytes / shared);
      if (!faster && !slower) continue;
      found.push_back({.one = one,
                       .other = other,
                       .carried = bytes / std::max(most->seconds - round_trip, 1e-6),
                       .known = faster ? alone : shared});
    }
  }
  return found;
}

std::string outdated_entries(const KnownRates& known, std::span<const Misjudged> wrong) {
  std::string text;
  for (const Misjudged& each : wrong) {
    text +=
        entry({.one = known.hosts[each.one], .other = known.hosts[each.other], .facts = {}, .outdated = true}, today());
  }
  return text;
}

}  // namespace urakata::job
