// SPDX-License-Identifier: BSD-3-Clause
#include "job/better_network.hpp"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/file_bytes.hpp"

namespace urakata::job {

namespace {

// Folders of /sys/class. In this order: InfiniBand, RoCE, Omni-Path, EFA and usNIC; Slingshot; Aries and Gemini; BXI;
// Tofu; Omni-Path without verbs.
constexpr std::array kClasses = {"infiniband", "cxi", "gni", "bxi", "tofu", "hfi1"};

// Beginnings of the names of device files that are no network between nodes, such as terminals, shared memory, graphics
// cards, and devices by which ranks of a node copy.
constexpr std::array<std::string_view, 38> kOtherDevices = {
    "null",   "zero",      "full", "random", "urandom", "tty",  "pts/",   "ptmx",      "console", "shm/",
    "mqueue", "hugepages", "fd/",  "nvidia", "kfd",     "dri/", "nvmap",  "knem",      "xpmem",   "gdrdrv",
    "kmsg",   "fuse",      "cpu",  "rtc",    "hpet",    "ptp",  "mem",    "userfault", "net/tun", "vhost",
    "kvm",    "loop",      "sd",   "nvme",   "dm-",     "snd/", "input/", "video"};

// The PCI class of some InfiniBand controllers, among the serial buses. Other InfiniBand controllers have one of the
// network classes.
constexpr std::string_view kInfiniBandBus = "0x0c06";

std::vector<std::string> entries(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  std::vector<std::string> found;
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    if (entry->d_name[0] != '.') found.emplace_back(entry->d_name);
  }
  std::ranges::sort(found);
  return found;
}

// The target of a symbolic link in `folder`; empty: it cannot be read.
std::string target_of(const std::string& folder, const std::string& name) {
  std::string path = folder;
  path.append("/").append(name);
  std::array<char, PATH_MAX> text{};
  const ssize_t length = readlink(path.c_str(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

bool may_be_network(std::string_view file) {
  constexpr std::string_view kFolder = "/dev/";
  if (!file.starts_with(kFolder)) return false;
  const std::string_view name = file.substr(kFolder.size());
  return std::ranges::none_of(kOtherDevices, [&](std::string_view other) { return name.starts_with(other); });
}

int option_of(int socket, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

bool listens(int socket) {
  if (option_of(socket, SO_ACCEPTCONN) != 1 || option_of(socket, SO_TYPE) != SOCK_STREAM) return false;
  const int domain = option_of(socket, SO_DOMAIN);
  return domain == AF_INET || domain == AF_INET6;
}

// The first of `now` that is not in `before`; empty: all are.
std::string first_new(const std::vector<std::string>& now, const std::vector<std::string>& before) {
  const auto found = std::ranges::find_if(now, [&](const auto& one) { return std::ranges::count(before, one) == 0; });
  return found == now.end() ? "" : *found;
}

}  // namespace

std::string network_device(const std::string& root) {
  for (const char* name : kClasses) {
    const std::string folder = root + "/sys/class/" + name;
    if (const auto found = entries(folder); !found.empty()) return folder.substr(root.size()) + "/" + found.front();
  }
  return "";
}

std::string unknown_controller(const std::string& root) {
  const std::string folder = root + "/sys/bus/pci/devices";
  for (const std::string& name : entries(folder)) {
    std::string device = folder;
    device.append("/").append(name);
    const std::string of = file_bytes(device + "/class", 32);
    const bool network = of.starts_with("0x02") && !of.starts_with("0x0200");
    if (network || of.starts_with(kInfiniBandBus)) return device.substr(root.size());
  }
  return "";
}

OpenFiles open_files(const std::string& folder) {
  OpenFiles found;
  for (const std::string& name : entries(folder)) {
    std::string target = target_of(folder, name);
    if (may_be_network(target))
      found.devices.push_back(std::move(target));
    else if (target.starts_with("socket:") && listens(std::atoi(name.c_str())))
      found.listeners.push_back(std::move(target));
  }
  return found;
}

std::string better_network(const std::string& device, const OpenFiles& before, const OpenFiles& now) {
  if (!device.empty()) return "the node has " + device;
  if (const std::string file = first_new(now.devices, before.devices); !file.empty()) {
    return "the MPI library uses " + file;
  }
  if (first_new(now.listeners, before.listeners).empty()) return "the MPI library does not listen for TCP connections";
  return "";
}

}  // namespace urakata::job
