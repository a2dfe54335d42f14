// SPDX-License-Identifier: BSD-3-Clause
#include "attachment.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <xdp/libxdp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "bpf_messages.hpp"
#include "user_tables.hpp"
#include "xdp/frame.h"
#include "xdp/table.hpp"

namespace urakata {

namespace {

constexpr const char* kProgram = "urakata_reduce";  // the XDP program's name in reduce.bpf.c

struct Closed {
  void operator()(xdp_program* program) const { xdp_program__close(program); }
  void operator()(xdp_multiprog* programs) const { xdp_multiprog__close(programs); }
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using Program = std::unique_ptr<xdp_program, Closed>;
using Programs = std::unique_ptr<xdp_multiprog, Closed>;
using Object = std::unique_ptr<bpf_object, Closed>;

// The XDP programs at an interface; nullptr: there are none.
Result<Programs> programs_at(unsigned interface) {
  xdp_multiprog* const found = xdp_multiprog__get_from_ifindex(static_cast<int>(interface));
  const long code = libxdp_get_error(found);
  if (code == 0) return Programs(found);
  if (code == -ENOENT) return Programs();
  return bpf_failure("asking what is attached", static_cast<int>(code));
}

// Our programs among these. There are several while one replaces another. If the kernel cannot run a dispatcher, libxdp
// attaches a program without one, which then is the only one.
std::vector<xdp_program*> ours_among(const Programs& programs) {
  std::vector<xdp_program*> ours;
  if (programs == nullptr) return ours;
  if (xdp_multiprog__is_legacy(programs.get())) {
    xdp_program* const only = xdp_multiprog__main_prog(programs.get());
    if (only != nullptr && std::strncmp(xdp_program__name(only), kProgram, 14) == 0) ours.push_back(only);
    return ours;
  }
  for (xdp_program* one = nullptr; (one = xdp_multiprog__next_prog(one, programs.get())) != nullptr;) {
    if (std::strcmp(xdp_program__name(one), kProgram) == 0) ours.push_back(one);
  }
  return ours;
}

Result<unsigned> number_of(const std::string& interface) {
  const unsigned number = if_nametoindex(interface.c_str());
  if (number == 0) return Error{"there is no interface " + interface + " here (ip link shows those that there are)"};
  return number;
}

Status detach_program(unsigned interface, xdp_program* program, xdp_attach_mode mode) {
  const int code = xdp_program__detach(program, static_cast<int>(interface), mode, 0);
  return code != 0 ? Status(bpf_failure("detaching", code)) : Status(Nothing{});
}

// Detaches all of our programs except the one with the number `but`; 0: all.
Status detach_ours(unsigned interface, __u32 but) {
  for (;;) {
    const Result<Programs> programs = programs_at(interface);
    if (!programs.ok()) return programs.error();
    const std::vector<xdp_program*> ours = ours_among(*programs);
    const auto other = std::ranges::find_if(ours, [&](xdp_program* one) { return xdp_program__id(one) != but; });
    if (other == ours.end()) return Nothing{};
    Status gone = detach_program(interface, *other, xdp_multiprog__attach_mode(programs->get()));
    if (!gone.ok()) return gone;
  }
}

xdp_attach_mode mode_of(const AttachWish& wish) { return wish.generic ? XDP_MODE_SKB : XDP_MODE_NATIVE; }

Result<int> users_map(const bpf_object* object) {
  const int map = bpf_object__find_map_fd_by_name(object, "users");
  return map < 0 ? Result<int>(bpf_failure("finding the users' map", map)) : Result<int>(map);
}

// Attaches beside what is there. Our programs that were there are detached as the last step.
Status attach_beside(const AttachWish& wish, unsigned interface, const LinkedOps& linked) {
  xdp_program* const opened = xdp_program__open_file(linked.file().c_str(), "xdp.frags", nullptr);
  if (const long code = libxdp_get_error(opened); code != 0) {
    return bpf_failure("reading " + wish.ebpf, static_cast<int>(code));
  }
  const Program program(opened);
  const int code = xdp_program__attach(opened, static_cast<int>(interface), mode_of(wish), 0);
  if (code != 0) return bpf_failure("attaching to " + wish.interface, code);
  const Result<int> users = users_map(xdp_program__bpf_obj(opened));
  Status given = users.ok() ? stage_tables(interface, *users, wish.users, linked.ops()) : Status(users.error());
  if (given.ok()) given = use_staged_tables(interface);
  if (given.ok()) {
    const Status gone = detach_ours(interface, xdp_program__id(opened));
    return gone.ok() ? gone
                     : Status(Error{"it is attached, and what was there before stays, too: " + gone.error().message});
  }
  remove_staged_tables(interface);
  const Status gone = detach_program(interface, opened, mode_of(wish));
  return gone.ok() ? given : Status(Error{given.error().message + "; and " + gone.error().message});
}

// For a kernel that cannot run a dispatcher: replaces our program `before` atomically.
Status replace(const AttachWish& wish, unsigned interface, const LinkedOps& linked, const xdp_program* before) {
  const Object object(bpf_object__open_file(linked.file().c_str(), nullptr));
  if (object == nullptr) return bpf_failure("reading " + wish.ebpf, errno);
  if (const int code = bpf_object__load(object.get()); code != 0) return bpf_failure("loading " + wish.ebpf, code);
  const bpf_program* const program = bpf_object__find_program_by_name(object.get(), kProgram);
  if (program == nullptr) return bpf_failure("finding the program in " + wish.ebpf, ENOENT);
  const Result<int> users = users_map(object.get());
  if (!users.ok()) return users.error();
  if (Status given = stage_tables(interface, *users, wish.users, linked.ops()); !given.ok()) return given;
  const auto put = [&](int now, int old) {
    bpf_xdp_attach_opts options{};
    options.sz = sizeof options;
    options.old_prog_fd = old;
    const __u32 flags = XDP_FLAGS_REPLACE | (wish.generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
    return bpf_xdp_attach(static_cast<int>(interface), now, flags, &options);
  };
  const int own = bpf_program__fd(program), others = xdp_program__fd(before);
  if (const int code = put(own, others); code != 0) {
    remove_staged_tables(interface);
    return bpf_failure("attaching to " + wish.interface, code);
  }
  Status used = use_staged_tables(interface);
  if (used.ok()) return used;
  remove_staged_tables(interface);
  const int code = put(others, own);
  return code == 0
             ? used
             : Status(Error{used.error().message + "; and " + bpf_failure("putting back what was", code).message});
}

}  // namespace

// Takes away what was attached before only as the last step.
Status attach(const AttachWish& wish) {
  keep_bpf_messages();
  const auto interface = number_of(wish.interface);
  if (!interface.ok()) return interface.error();
  if (wish.users.size() > URA_XDP_USERS) {
    return Error{"at most " + std::to_string(URA_XDP_USERS) + " users may reduce at an interface"};
  }
  if (Status made = make_mount_point(); !made.ok()) return made;
  const auto linked = LinkedOps::link(wish.ebpf, wish.ops);
  if (!linked.ok()) return linked.error();
  const Result<Programs> programs = programs_at(*interface);
  if (!programs.ok()) return programs.error();
  const std::vector<xdp_program*> before = ours_among(*programs);
  if (before.empty()) {
    remove_tables(*interface);  // of an attach() that ended half way
    return attach_beside(wish, *interface, *linked);
  }
  if (xdp_multiprog__attach_mode(programs->get()) != mode_of(wish)) {
    const std::string has = wish.generic ? "the driver's part" : "the kernel's own part (--generic)";
    return Error{wish.interface + " has it in " + has +
                 ", and the kernel allows it in one part only: detach it first (" + "urakata kernel detach " +
                 wish.interface + ")"};
  }
  if (xdp_multiprog__is_legacy(programs->get())) return replace(wish, *interface, *linked, before.front());
  return attach_beside(wish, *interface, *linked);
}

Status detach(const std::string& interface) {
  keep_bpf_messages();
  const auto number = number_of(interface);
  if (!number.ok()) return number.error();
  Status gone = detach_ours(*number, 0);
  if (gone.ok()) remove_tables(*number);
  return gone;
}

std::vector<Attached> attached_here() {
  keep_bpf_messages();
  std::vector<Attached> found;
  const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> all(if_nameindex(), if_freenameindex);
  for (const struct if_nameindex* one = all.get(); one != nullptr && one->if_index != 0; ++one) {
    const Result<Programs> programs = programs_at(one->if_index);
    if (!programs.ok() || ours_among(*programs).empty()) continue;
    Attached& here = found.emplace_back();
    here.interface = one->if_name;
    here.native = xdp_multiprog__attach_mode(programs->get()) == XDP_MODE_NATIVE;
    here.users = users_at(one->if_index);
    here.ops = xdp::ops_at(one->if_index);
  }
  return found;
}

}  // namespace urakata
