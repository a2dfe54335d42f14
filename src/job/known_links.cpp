// SPDX-License-Identifier: BSD-3-Clause
#include "job/known_links.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/options/written.hpp"
#include "base/system_error.hpp"
#include "job/site_list.hpp"

namespace urakata::job {

namespace {

constexpr std::string_view kBegin = "links:";
constexpr std::string_view kTable = "\n[[link]]\n";
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

// The file, opened and locked (flock) while this object lives.
class Locked {
 public:
  explicit Locked(const std::filesystem::path& path) {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && failure_ == 0; ++i) {
      file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (file_ < 0 || !lock()) break;
      struct stat own {
      }, named{};
      if (fstat(file_, &own) == 0 && stat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
          own.st_dev == named.st_dev) {
        mode_ = own.st_mode & 0777;
        return;
      }
      end();  // another job has replaced the file meanwhile
      errno = EAGAIN;
    }
    failure_ = errno;
    end();
  }
  ~Locked() { end(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  int file() const { return file_; }  // -1: failure() says why
  int failure() const { return failure_; }
  mode_t mode() const { return mode_; }

 private:
  // Waits at most a second, so that a file system with broken locks does not hold up the job.
  bool lock() const {
    constexpr int kTries = 100;
    constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
    for (int i = 0; i < kTries; ++i) {
      if (flock(file_, LOCK_EX | LOCK_NB) == 0) return true;
      if (errno != EWOULDBLOCK && errno != EINTR) return false;
      nanosleep(&kPause, nullptr);
    }
    errno = EWOULDBLOCK;
    return false;
  }
  void end() {
    if (file_ >= 0) close(std::exchange(file_, -1));
  }
  int file_ = -1, failure_ = 0;
  mode_t mode_ = 0;
};

Result<std::string> content_of(int file) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{std::strerror(errno)};
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// 0, or the system's error.
int put(const std::string& path, std::string_view text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0) return errno;
  int failure = fchmod(file, mode) != 0 ? errno : 0;  // the umask does not count
  while (!text.empty() && failure == 0) {
    const ssize_t gone = write(file, text.data(), text.size());
    if (gone > 0) text.remove_prefix(static_cast<std::size_t>(gone));
    if (gone == 0) failure = ENOSPC;
    if (gone < 0 && errno != EINTR) failure = errno;
  }
  if (failure == 0 && fsync(file) != 0) failure = errno;
  if (close(file) != 0 && failure == 0) failure = errno;
  return failure;
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
  std::error_code failed;
  std::filesystem::path path(file);
  if (std::filesystem::is_symlink(path, failed)) {
    path = std::filesystem::canonical(path, failed);
    if (failed) return system_error(file, failed.value());
  }
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  const Locked locked(path);
  if (locked.file() < 0) return system_error(file, locked.failure());
  Result<std::string> text = content_of(locked.file());
  if (!text) return Error{file + ": " + text.error().message};
  *text += entries;
  while (text->size() > kMostOfFile) {
    const std::size_t first = text->find(kTable), second = text->find(kTable, first + 1);
    if (second == std::string::npos) break;
    text->erase(first, second - first);
  }
  const std::string beside = path.string() + ".new";  // written by one job only, since this one has the lock
  if (const int failure = put(beside, *text, locked.mode()); failure != 0) {
    unlink(beside.c_str());
    return system_error(file, failure);
  }
  if (rename(beside.c_str(), path.c_str()) == 0) return Nothing{};
  const int failure = errno;
  unlink(beside.c_str());
  return system_error(file, failure);
}

Status trusted(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return system_error(file);
  if (!S_ISREG(facts.st_mode)) return Error{file + " is no file"};
  if (facts.st_uid != geteuid() && facts.st_uid != 0) return Error{file + " is another user's"};
  if ((facts.st_mode & S_IWOTH) != 0) return Error{file + " may be written by anyone"};
  return Nothing{};
}

}  // namespace urakata::job
