// SPDX-License-Identifier: BSD-3-Clause
// Is there a network between the nodes that the MPI library drives better than the kernel's TCP?
//
// Libraries name their networks in ways of their own, and differently from version to version, so what they use is read
// from what the process has open: a network that is not the kernel's needs a device file, and TCP needs a socket that
// listens. What is not known counts as better: TCP beside a network that Urakata does not know would be slow.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <vector>

namespace urakata::job {

// A driver of such a network on this node, "/sys/class/infiniband/mlx5_0"; empty: none is known. `root`: of tests.
std::string network_device(const std::string& root = "");

// A network controller of this node that is not Ethernet, by its PCI class, "/sys/bus/pci/devices/0000:17:00.0"; empty:
// there is none. The MPI library may drive it, with a driver that network_device() does not know; that shows after
// MPI_Init. A network whose device has another class, or is no PCI device, shows after MPI_Init only
// (better_network()).
std::string unknown_controller(const std::string& root = "");

// What a process has open.
struct OpenFiles {
  std::vector<std::string> devices;    // character devices that may be a network's, "/dev/kgni0"
  std::vector<std::string> listeners;  // TCP sockets that listen, on any interface: "socket:[4711]"
};
// `folder`: where the process's descriptors are named.
OpenFiles open_files(const std::string& folder = "/proc/self/fd");

// Why messages are best left to the MPI library, a clause for a sentence; empty: it uses TCP itself. `before`, `now`:
// what was open before the library's MPI_Init and is now; launchers hand down listening sockets of their own.
std::string better_network(const std::string& device, const OpenFiles& before, const OpenFiles& now);

}  // namespace urakata::job
