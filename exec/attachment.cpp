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

#include "xdp/frame.h"
#include "xdp/places.hpp"

namespace urakata {

namespace {

constexpr const char* kProgram = "urakata_reduce";  // its name in reduce.bpf.c
constexpr unsigned kBpfFileSystem = 0xcafe4a11;     // BPF_FS_MAGIC

// What the verifier and the libraries said since the last start; the verifier's reason stands near its end.
std::string& said() {
  static std::string text;
  return text;
}

int keep(const char* format, va_list arguments) {
  std::string line(4096, '\0');
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  line.resize(std::min(static_cast<std::size_t>(std::max(length, 0)), line.size() - 1));
  said() += line;
  return length;
}
int keep_bpf(libbpf_print_level level, const char* format, va_list arguments) {
  return level == LIBBPF_DEBUG ? 0 : keep(format, arguments);
}
int keep_xdp(libxdp_print_level level, const char* format, va_list arguments) {
  return level == LIBXDP_DEBUG ? 0 : keep(format, arguments);
}

// The last lines of it, which tell why.
std::string reason(int code) {
  std::string text = std::strerror(code < 0 ? -code : code);
  constexpr std::size_t kMost = 800;
  std::string& log = said();
  if (log.size() > kMost) log.erase(0, log.find('\n', log.size() - kMost) + 1);
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return log.empty() ? text : text + "\n" + log;
}

Error failed(const std::string& doing, int code) { return Error{doing + ": " + reason(code)}; }

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
  if (mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return failed("making " + place, errno);
  struct statfs there {};
  if (statfs(place.c_str(), &there) == 0 && static_cast<unsigned>(there.f_type) == kBpfFileSystem) return Nothing{};
  if (mount("bpf", place.c_str(), "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755") != 0) {
    return failed("mounting a bpffs on " + place, errno);
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
  if (table < 0) return failed("making a table for user " + std::to_string(user), table);
  const std::string path = xdp::table_of(interface, user);
  Status given = Nothing{};
  constexpr std::size_t kBytes = sizeof(ura_xdp_slot) * URA_XDP_SLOTS;
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
  if (mapped == MAP_FAILED) {
    given = failed("mapping a table", errno);
  } else {
    for (unsigned i = 0; i < URA_XDP_SLOTS; ++i) static_cast<ura_xdp_slot*>(mapped)[i].user = number;
    munmap(mapped, kBytes);
    if (const int code = bpf_map_update_elem(users, &number, &table, BPF_ANY); code != 0) {
      given = failed("handing a table to the byte code", code);
    } else if (const int pinned = bpf_obj_pin(table, path.c_str()); pinned != 0) {
      given = failed("pinning " + path, pinned);
    } else if (chmod(path.c_str(), 0600) != 0 || chown(path.c_str(), user, static_cast<gid_t>(-1)) != 0) {
      given = failed("giving " + path + " to its user", errno);
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
  return code != 0 ? Status(failed("detaching", code)) : Status(Nothing{});
}

Status give_tables(int users, unsigned interface, const std::vector<uid_t>& wanted) {
  const std::string folder = xdp::folder_of(interface);
  if (mkdir(folder.c_str(), 0755) != 0) return failed("making " + folder, errno);
  for (unsigned i = 0; i < wanted.size(); ++i) {
    if (Status given = give_table(users, interface, i, wanted[i]); !given.ok()) return given;
  }
  return Nothing{};
}

}  // namespace

Status attach(const AttachWish& wish) {
  libbpf_set_print(keep_bpf);
  libxdp_set_print(keep_xdp);
  const auto interface = number_of(wish.interface);
  if (!interface.ok()) return interface.error();
  if (wish.users.size() > URA_XDP_USERS) {
    return Error{"at most " + std::to_string(URA_XDP_USERS) + " users may reduce at an interface"};
  }
  if (Status made = make_mount_point(); !made.ok()) return made;
  if (Status gone = detach_from(*interface); !gone.ok()) return gone;
  xdp_program* const opened = xdp_program__open_file(wish.byte_code.c_str(), "xdp.frags", nullptr);
  if (const long code = libxdp_get_error(opened); code != 0) {
    return failed("reading " + wish.byte_code, static_cast<int>(code));
  }
  const Program program(opened);
  const int code =
      xdp_program__attach(opened, static_cast<int>(*interface), wish.generic ? XDP_MODE_SKB : XDP_MODE_NATIVE, 0);
  if (code != 0) return failed("attaching to " + wish.interface, code);
  const int users = bpf_object__find_map_fd_by_name(xdp_program__bpf_obj(opened), "users");
  Status given =
      users < 0 ? Status(failed("finding the users' map", users)) : give_tables(users, *interface, wish.users);
  if (given.ok()) return given;
  const Status gone = detach_from(*interface);
  return gone.ok() ? given : Status(Error{given.error().message + "; and " + gone.error().message});
}

Status detach(const std::string& interface) {
  libbpf_set_print(keep_bpf);
  libxdp_set_print(keep_xdp);
  const auto number = number_of(interface);
  if (!number.ok()) return number.error();
  return detach_from(*number);
}

std::vector<Attached> attached_here() {
  libbpf_set_print(keep_bpf);
  libxdp_set_print(keep_xdp);
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
  }
  return found;
}

}  // namespace urakata
