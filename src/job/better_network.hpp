// SPDX-License-Identifier: BSD-3-Clause
// Whether there is a network between the nodes that the MPI library drives better than the kernel's TCP.
//
// MPI libraries name their networks differently, and change the names from version to version. So the network in use is
// found by the files that the process has open: a network that is not the kernel's needs a device file, and TCP needs a
// listening socket. An unknown network counts as better: TCP beside it would probably be slow.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <vector>

namespace urakata::job {

// A device of a known better network on this node, "/sys/class/infiniband/mlx5_0"; empty: there is none. `root`: prefix
// of all paths, for tests.
std::string network_device(const std::string& root = "");

// A network controller of this node that is not Ethernet, by its PCI class, "/sys/bus/pci/devices/0000:17:00.0"; empty:
// there is none. Whether the MPI library uses the controller, with a driver that network_device() does not know, shows
// only after MPI_Init, by better_network(). So does a network whose device has another class or is no PCI device.
std::string unknown_controller(const std::string& root = "");

// What this process has open.
struct OpenFiles {
  std::vector<std::string> devices;    // files in /dev that may be a network's, "/dev/kgni0"
  std::vector<std::string> listeners;  // listening TCP sockets, "socket:[4711]"
};
// `folder`: the folder that lists this process's descriptors.
OpenFiles open_files(const std::string& folder = "/proc/self/fd");

// Why messages are best left to the MPI library, a clause for a sentence; empty: the MPI library uses TCP itself.
// `device`: the result of network_device(). `before`: what was open before the MPI library's MPI_Init, since launchers
// hand down listening sockets of their own; `now`: what is open after it.
std::string better_network(const std::string& device, const OpenFiles& before, const OpenFiles& now);

}  // namespace urakata::job
