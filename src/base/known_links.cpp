#include "base/known_links.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/site_list.hpp"
#include "base/system_error.hpp"
#include "base/written.hpp"

namespace urakata {

namespace {

constexpr std::string_view kBegin = "links:";
constexpr double kMegabit = 125e3;  // bytes/s

using Hosts = std::vector<std::string>;

// The numbers of an entry in the order in which they are written.
constexpr std::array kNumbers = {&LinkFacts::delay, &LinkFacts::stream, &LinkFacts::pair,
                                 &LinkFacts::link,  &LinkFacts::inside, &LinkFacts::loss};

bool any_matches(const Hosts& hosts, const Hosts& patterns) {
  return std::ranges::any_of(hosts, [&](const std::string& host) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) { return host_matches(host, pattern); });
  });
}

std::string joined(const Hosts& hosts, std::string_view between, std::string_view around = "") {
  std::string text;
  for (const std::string& host : hosts) {
    text.append(text.empty() ? "" : between).append(around).append(host).append(around);
  }
  return text;
}

Hosts split(std::string_view text) {
  Hosts hosts;
  while (!text.empty()) hosts.emplace_back(written::cut(text, ' '));
  return hosts;
}

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

const KnownLink* KnownLinks::between(const Hosts& here, const Hosts& there) const {
  const auto found = std::find_if(links.rbegin(), links.rend(), [&](const KnownLink& link) {
    return (any_matches(here, link.one) && any_matches(there, link.other)) ||
           (any_matches(here, link.other) && any_matches(there, link.one));
  });
  return found == links.rend() || found->outdated ? nullptr : &*found;
}

std::string handed_on(const KnownLinks& known) {
  std::string text(kBegin);
  for (const KnownLink& link : known.links) {
    text += joined(link.one, " ") + "|" + joined(link.other, " ");
    for (const auto number : kNumbers) text += "|" + formatted("%.9g", link.facts.*number);
    text += link.outdated ? "|1;" : "|0;";
  }
  return text + "@" + known.file;
}

Result<KnownLinks> read_known_links(std::string_view text) {
  const Error wrong{"not what urakata-exec hands on; a file is read by urakata-exec only"};
  if (!text.starts_with(kBegin)) return wrong;
  text.remove_prefix(kBegin.size());
  KnownLinks known;
  while (!text.empty() && text.front() != '@') {
    std::string_view rest = written::cut(text, ';');
    KnownLink link;
    link.one = split(written::cut(rest, '|'));
    link.other = split(written::cut(rest, '|'));
    for (const auto number : kNumbers) {
      const std::string_view word = written::cut(rest, '|');
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), link.facts.*number);
      if (error != std::errc{} || end != word.data() + word.size()) return wrong;
    }
    link.outdated = rest == "1";
    if (link.one.empty() || link.other.empty() || (rest != "1" && rest != "0")) return wrong;
    known.links.push_back(std::move(link));
  }
  if (text.empty()) return wrong;
  known.file = text.substr(1);
  return known;
}

std::string entry(const KnownLink& link, std::string_view date) {
  std::string text = "\n[[link]]\none = [" + joined(link.one, ", ", "\"") + "]\n";
  text += "other = [" + joined(link.other, ", ", "\"") + "]\n";
  if (link.outdated) {
    text += "outdated = true\n";
  } else {
    const LinkFacts& facts = link.facts;
    text += "delay_ms = " + formatted("%.3f", facts.delay * 1e3) + "\n";
    text += "stream_mbit = " + formatted("%.3f", facts.stream / kMegabit) + "\n";
    text += "pair_mbit = " + formatted("%.3f", facts.pair / kMegabit) + "\n";
    text += "link_mbit = " + formatted("%.3f", facts.link / kMegabit) + "\n";
    if (facts.inside > 0) text += "inside_mbit = " + formatted("%.3f", facts.inside / kMegabit) + "\n";
    text += "loss_percent = " + formatted("%.3f", facts.loss * 100) + "\n";
  }
  return text.append("date = \"").append(date).append("\"\n");
}

Status append_entries(const std::string& file, std::string_view entries) {
  const int opened = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (opened < 0) return system_error(file);
  const ssize_t put = write(opened, entries.data(), entries.size());
  const int failure = put < 0 ? errno : ENOSPC;
  close(opened);
  if (put == static_cast<ssize_t>(entries.size())) return Nothing{};
  return system_error(file, failure);
}

}  // namespace urakata
