// SPDX-License-Identifier: BSD-3-Clause
#include "user_tables.hpp"

#include <bpf/bpf.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>

#include "bpf_messages.hpp"
#include "xdp/places.hpp"

namespace urakata {

namespace {

constexpr unsigned kBpfFileSystem = 0xcafe4a11;  // BPF_FS_MAGIC

// Folders of staged tables, and of those that are being replaced. (A bpffs allows no dots in names.)
std::string staged_at(unsigned interface) { return xdp::folder_of(interface) + "-new"; }
std::string replaced_at(unsigned interface) { return xdp::folder_of(interface) + "-old"; }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  while (const dirent* const entry = open ? readdir(open.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

void remove_folder(const std::string& folder) {
  for (const std::string& name : names_in(folder)) unlink(std::string(folder).append("/").append(name).c_str());
  rmdir(folder.c_str());
}

// Makes the table of one user, as a file in the folder and as an entry of the map of all users. Its slots are empty but
// for the user's number.
Status give_table(const std::string& folder, int users, unsigned number, uid_t user) {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE;
  const int table =
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "urakata_table", sizeof(__u32), sizeof(ura_xdp_slot), URA_XDP_SLOTS, &options);
  if (table < 0) return bpf_failure("making a table for user " + std::to_string(user), table);
  const std::string path = xdp::table_in(folder, user);
  Status given = Nothing{};
  constexpr std::size_t kBytes = sizeof(ura_xdp_slot) * URA_XDP_SLOTS;
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
  if (mapped == MAP_FAILED) {
    given = bpf_failure("mapping a table", errno);
  } else {
    for (unsigned i = 0; i < URA_XDP_SLOTS; ++i) static_cast<ura_xdp_slot*>(mapped)[i].user = number;
    munmap(mapped, kBytes);
    if (const int code = bpf_map_update_elem(users, &number, &table, BPF_ANY); code != 0) {
      given = bpf_failure("handing a table to the eBPF code", code);
    } else if (const int pinned = bpf_obj_pin(table, path.c_str()); pinned != 0) {
      given = bpf_failure("pinning " + path, pinned);
    } else if (chmod(path.c_str(), 0600) != 0 || chown(path.c_str(), user, static_cast<gid_t>(-1)) != 0) {
      given = bpf_failure("giving " + path + " to its user", errno);
    }
  }
  close(table);
  return given;
}

// Makes the table of operations, which all users may read.
Status give_ops(const std::string& folder, const ura_xdp_ops& ops) {
  const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "urakata_ops", sizeof(__u32), sizeof ops, 1, nullptr);
  if (map < 0) return bpf_failure("making the table of operations", map);
  const std::string path = xdp::ops_in(folder);
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

}  // namespace

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

Status stage_tables(unsigned interface, int users_map, const std::vector<uid_t>& users, const ura_xdp_ops& ops) {
  remove_staged_tables(interface);
  const std::string folder = staged_at(interface);
  if (mkdir(folder.c_str(), 0755) != 0) return bpf_failure("making " + folder, errno);
  Status given = give_ops(folder, ops);
  for (unsigned i = 0; given.ok() && i < users.size(); ++i) given = give_table(folder, users_map, i, users[i]);
  if (!given.ok()) remove_folder(folder);
  return given;
}

Status use_staged_tables(unsigned interface) {
  const std::string place = xdp::folder_of(interface);
  const std::string replaced = replaced_at(interface);
  remove_folder(replaced);
  const bool had_some = std::rename(place.c_str(), replaced.c_str()) == 0;
  if (std::rename(staged_at(interface).c_str(), place.c_str()) != 0) {
    const Error why = bpf_failure("making " + place, errno);
    if (had_some) std::rename(replaced.c_str(), place.c_str());
    return why;
  }
  remove_folder(replaced);
  return Nothing{};
}

void remove_staged_tables(unsigned interface) { remove_folder(staged_at(interface)); }

void remove_tables(unsigned interface) {
  remove_folder(xdp::folder_of(interface));
  remove_staged_tables(interface);
  remove_folder(replaced_at(interface));
}

std::vector<uid_t> users_at(unsigned interface) {
  std::vector<uid_t> users;
  for (const std::string& name : names_in(xdp::folder_of(interface))) {
    uid_t user = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), user).ec == std::errc()) users.push_back(user);
  }
  std::ranges::sort(users);
  return users;
}

}  // namespace urakata
