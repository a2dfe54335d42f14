// SPDX-License-Identifier: BSD-3-Clause
// urakata-kernel: attaches, detaches and lists the eBPF code for small collectives, for administrators.
// `urakata kernel` calls it.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "attachment.hpp"
#include "base/json.hpp"

namespace {

using urakata::Attached;
using urakata::AttachWish;

constexpr const char* kUsage =
    R"(usage: urakata-kernel attach INTERFACE EBPF [--user NAME]... [--op NAME=FILE]... [--generic]
       urakata-kernel detach INTERFACE
       urakata-kernel list [--json]

eBPF code that computes small collectives of Urakata's jobs at a network interface, for the users named (default: who
calls). --op: with an operation of a program's own, from eBPF code (urakata_op.bpf.h). `urakata kernel` says more and
knows where the eBPF code is. Exit code 1: it could not be done.

Examples:
  urakata-kernel attach eth0 lib/urakata/reduce.bpf.o --user anna
  urakata-kernel list
  urakata-kernel detach eth0
)";

int fail(const std::string& why) {
  std::fprintf(stderr, "urakata-kernel: %s\n", why.c_str());
  return 1;
}

int wrong(const std::string& what) {
  std::fprintf(stderr, "urakata-kernel: %s\n%s", what.c_str(), kUsage);
  return 2;
}

std::string name_of(uid_t user) {
  const passwd* const found = getpwuid(user);
  return found != nullptr ? found->pw_name : std::to_string(user);
}

int attach(const std::vector<std::string_view>& words) {
  AttachWish wish;
  std::vector<std::string_view> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--generic") {
      wish.generic = true;
    } else if (words[i] == "--user") {
      if (++i == words.size()) return wrong("--user needs a name");
      const std::string name(words[i]);
      const passwd* const found = getpwnam(name.c_str());
      if (found == nullptr) return fail("there is no user " + name);
      wish.users.push_back(found->pw_uid);
    } else if (words[i] == "--op") {
      const std::string_view given = ++i == words.size() ? std::string_view() : words[i];
      const std::size_t name = given.find('=');
      if (name == std::string_view::npos) return wrong("--op needs NAME=FILE");
      wish.ops.push_back({std::string(given.substr(0, name)), std::string(given.substr(name + 1))});
    } else {
      places.push_back(words[i]);
    }
  }
  if (places.size() != 2) return wrong("attach needs an interface and a file of eBPF code");
  wish.interface = places[0];
  wish.ebpf = places[1];
  if (wish.users.empty()) wish.users.push_back(getuid());
  if (geteuid() != 0) return fail("only root may attach eBPF code to an interface");
  const urakata::Status done = urakata::attach(wish);
  return done.ok() ? 0 : fail(done.error().message);
}

int list(bool json) {
  const std::vector<Attached> all = urakata::attached_here();
  urakata::JsonWriter out;
  out.array();
  for (const Attached& one : all) {
    std::string names;
    out.object().key("interface").string(one.interface).key("native").boolean(one.native).key("users").array();
    for (const uid_t user : one.users) {
      out.string(name_of(user));
      names += " " + name_of(user);
    }
    out.end().key("operations").array();
    for (const auto& op : one.ops.of) {
      if (op.name[0] == 0) continue;
      out.object().key("name").string(op.name).key("bytes").number(op.bytes).end();
      names += (&op == one.ops.of ? "; operations " : ", ") + std::string(op.name) + " of " + std::to_string(op.bytes) +
               " B";
    }
    out.end().end();
    if (!json) std::printf("%s, %s, for%s\n", one.interface.c_str(), one.native ? "native" : "generic", names.c_str());
  }
  out.end();
  if (json) std::puts(out.text().c_str());
  if (!json && all.empty()) std::puts("at no interface");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::fputs(kUsage, words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  const std::vector<std::string_view> rest(words.begin() + 1, words.end());
  if (words[0] == "attach") return attach(rest);
  if (words[0] == "list" && rest.size() <= 1 && (rest.empty() || rest[0] == "--json")) return list(!rest.empty());
  if (words[0] == "detach" && rest.size() == 1) {
    if (geteuid() != 0) return fail("only root may detach eBPF code from an interface");
    const urakata::Status done = urakata::detach(std::string(rest[0]));
    return done.ok() ? 0 : fail(done.error().message);
  }
  return wrong("unknown: " + std::string(words[0]));
}
