#include "attachment.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "bpf_messages.hpp"
#include "xdp/frame.h"
#include "xdp/places.hpp"
#include "xdp/table.hpp"

namespace urakata {

namespace {

constexpr const char* kProgram = "urakata_reduce";  // its name in reduce.bpf.c
constexpr unsigned kBpfFileSystem = 0xcafe4a11;     // BPF_FS_MAGIC

struct Closed {
  void operator()(xdp_program* program) const { xdp_program__close(program); }
  void operator()(xdp_multiprog* programs) const { xdp_multiprog__close(programs); }
};
using Program = std::unique_ptr<xdp_program, Closed>;
using Programs = std::unique_ptr<xdp_multiprog, Closed>;

Programs programs_at(unsigned interface) {
  xdp_multiprog* const found = xdp_multiprog__get_from_ifindex(static_cast<int>(interface));
  return Programs(libxdp_get_error(found) != 0 ? nullptr : found);
}

// Where the kernel cannot run a dispatcher libxdp attaches a program by itself, which then is the only one.
xdp_program* ours_among(const Programs& programs) {
  if (programs == nullptr) return nullptr;
  if (xdp_multiprog__is_legacy(programs.get())) {
    xdp_program* const only = xdp_multiprog__main_prog(programs.get());
    return only != nullptr && std::strncmp(xdp_program__name(only), kProgram, 14) == 0 ? only : nullptr;
  }
  for (xdp_program* one = nullptr; (one = xdp_multiprog__next_prog(one, programs.get())) != nullptr;) {
    if (std::strcmp(xdp_program__name(one), kProgram) == 0) return one;
  }
  return nullptr;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  while (const dirent* const entry = open ? readdir(open.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

Status make_mount_point() {
  const std::string place(xdp::kMountPoint);
  mkdir(place.substr(0, place.rfind('/')).c_str(), 0755);
  if (mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return bpf_failure("making " + place, errno);
  struct statfs there {};
  if (statfs(place.c_str(), &there) == 0 && static_cast<unsigned>(there.f_type) == kBpfFileSystem) return Nothing{};
  if (mount("bpf", place.c_str(), "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755") != 0) {
    return bpf_failure("mounting a bpffs on " + place, errno);
  }
  return Nothing{};
}

// The table of one user, where he finds it, and in the map of all users. Its slots are empty but for the user's number.
Status give_table(int users, unsigned interface, unsigned number, uid_t user) {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE;
  const int table =
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "urakata_table", sizeof(__u32), sizeof(ura_xdp_slot), URA_XDP_SLOTS, &options);
  if (table < 0) return bpf_failure("making a table for user " + std::to_string(user), table);
  const std::string path = xdp::table_of(interface, user);
  Status given = Nothing{};
  constexpr std::size_t kBytes = sizeof(ura_xdp_slot) * URA_XDP_SLOTS;
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
  if (mapped == MAP_FAILED) {
    given = bpf_failure("mapping a table", errno);
  } else {
    for (unsigned i = 0; i < URA_XDP_SLOTS; ++i) static_cast<ura_xdp_slot*>(mapped)[i].user = number;
    munmap(mapped, kBytes);
    if (const int code = bpf_map_update_elem(users, &number, &table, BPF_ANY); code != 0) {
      given = bpf_failure("handing a table to the byte code", code);
    } else if (const int pinned = bpf_obj_pin(table, path.c_str()); pinned != 0) {
      given = bpf_failure("pinning " + path, pinned);
    } else if (chmod(path.c_str(), 0600) != 0 || chown(path.c_str(), user, static_cast<gid_t>(-1)) != 0) {
      given = bpf_failure("giving " + path + " to its user", errno);
    }
  }
  close(table);
  return given;
}

Result<unsigned> number_of(const std::string& interface) {
  const unsigned number = if_nametoindex(interface.c_str());
  if (number == 0) return Error{"there is no interface " + interface + " here (ip link shows those that there are)"};
  return number;
}

void remove_tables(unsigned interface) {
  const std::string folder = xdp::folder_of(interface);
  for (const std::string& name : names_in(folder)) unlink(std::string(folder).append("/").append(name).c_str());
  rmdir(folder.c_str());
}

Status detach_from(unsigned interface) {
  remove_tables(interface);
  const Programs programs = programs_at(interface);
  xdp_program* const ours = ours_among(programs);
  if (ours == nullptr) return Nothing{};
  const int code =
      xdp_program__detach(ours, static_cast<int>(interface), xdp_multiprog__attach_mode(programs.get()), 0);
  return code != 0 ? Status(bpf_failure("detaching", code)) : Status(Nothing{});
}

// For all to read.
Status give_ops(unsigned interface, const ura_xdp_ops& ops) {
  const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "urakata_ops", sizeof(__u32), sizeof ops, 1, nullptr);
  if (map < 0) return bpf_failure("making the table of operations", map);
  const std::string path = xdp::ops_of(interface);
  const __u32 only = 0;
  Status given = Nothing{};
  if (const int code = bpf_map_update_elem(map, &only, &ops, BPF_ANY); code != 0) {
    given = bpf_failure("filling the table of operations", code);
  } else if (const int pinned = bpf_obj_pin(map, path.c_str()); pinned != 0) {
    given = bpf_failure("pinning " + path, pinned);
  } else if (chmod(path.c_str(), 0444) != 0) {
    given = bpf_failure("opening " + path + " to all", errno);
  }
  close(map);
  return given;
}

// Users find their tables last, when all else is there.
Status give_tables(int users, unsigned interface, const std::vector<uid_t>& wanted, const ura_xdp_ops& ops) {
  const std::string folder = xdp::folder_of(interface);
  if (mkdir(folder.c_str(), 0755) != 0) return bpf_failure("making " + folder, errno);
  if (Status given = give_ops(interface, ops); !given.ok()) return given;
  for (unsigned i = 0; i < wanted.size(); ++i) {
    if (Status given = give_table(users, interface, i, wanted[i]); !given.ok()) return given;
  }
  return Nothing{};
}

}  // namespace

Status attach(const AttachWish& wish) {
  keep_bpf_messages();
  const auto interface = number_of(wish.interface);
  if (!interface.ok()) return interface.error();
  if (wish.users.size() > URA_XDP_USERS) {
    return Error{"at most " + std::to_string(URA_XDP_USERS) + " users may reduce at an interface"};
  }
  if (Status made = make_mount_point(); !made.ok()) return made;
  const auto linked = LinkedOps::link(wish.byte_code, wish.ops);
  if (!linked.ok()) return linked.error();
  if (Status gone = detach_from(*interface); !gone.ok()) return gone;
  xdp_program* const opened = xdp_program__open_file(linked->file().c_str(), "xdp.frags", nullptr);
  if (const long code = libxdp_get_error(opened); code != 0) {
    return bpf_failure("reading " + wish.byte_code, static_cast<int>(code));
  }
  const Program program(opened);
  const int code =
      xdp_program__attach(opened, static_cast<int>(*interface), wish.generic ? XDP_MODE_SKB : XDP_MODE_NATIVE, 0);
  if (code != 0) return bpf_failure("attaching to " + wish.interface, code);
  const int users = bpf_object__find_map_fd_by_name(xdp_program__bpf_obj(opened), "users");
  Status given = users < 0 ? Status(bpf_failure("finding the users' map", users))
                           : give_tables(users, *interface, wish.users, linked->ops());
  if (given.ok()) return given;
  const Status gone = detach_from(*interface);
  return gone.ok() ? given : Status(Error{given.error().message + "; and " + gone.error().message});
}

Status detach(const std::string& interface) {
  keep_bpf_messages();
  const auto number = number_of(interface);
  if (!number.ok()) return number.error();
  return detach_from(*number);
}

std::vector<Attached> attached_here() {
  keep_bpf_messages();
  std::vector<Attached> found;
  const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> all(if_nameindex(), if_freenameindex);
  for (const struct if_nameindex* one = all.get(); one != nullptr && one->if_index != 0; ++one) {
    const Programs programs = programs_at(one->if_index);
    if (ours_among(programs) == nullptr) continue;
    Attached& here = found.emplace_back();
    here.interface = one->if_name;
    here.native = xdp_multiprog__attach_mode(programs.get()) == XDP_MODE_NATIVE;
    for (const std::string& name : names_in(xdp::folder_of(one->if_index))) {
      uid_t user = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), user).ec == std::errc()) here.users.push_back(user);
    }
    std::ranges::sort(here.users);
    here.ops = xdp::ops_at(one->if_index);
  }
  return found;
}

}  // namespace urakata
