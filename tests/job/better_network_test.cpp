// SPDX-License-Identifier: BSD-3-Clause
// Which networks count as better than TCP: false trees of /sys and of a process's descriptors.
#include "job/better_network.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace urakata::job::better_network_test {
namespace {

namespace fs = std::filesystem;

class BetterNetwork : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "better-network-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "fd");
  }
  void TearDown() override { fs::remove_all(root_); }

  void has_device(const std::string& name) { fs::create_directories(root_ / "sys/class" / name); }
  void has_controller(const std::string& place, const std::string& its_class) {
    fs::create_directories(root_ / "sys/bus/pci/devices" / place);
    std::ofstream(root_ / "sys/bus/pci/devices" / place / "class") << its_class << "\n";
  }
  void has_open(int descriptor, const std::string& target) {
    fs::create_symlink(target, root_ / "fd" / std::to_string(descriptor));
  }
  std::string device() const { return network_device(root_.string()); }
  OpenFiles open() const { return open_files((root_ / "fd").string()); }

  fs::path root_;
};

// A socket of this process on a port of the system's choice.
class Socket {
 public:
  explicit Socket(int type, bool listening) : descriptor_(socket(AF_INET, type, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    if (listening) {
      EXPECT_EQ(listen(descriptor_, 1), 0);
    }
  }
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

TEST_F(BetterNetwork, DriversOfKnownNetworksAreFound) {
  EXPECT_EQ(device(), "");
  has_device("infiniband");
  EXPECT_EQ(device(), "") << "a module without a device";
  has_device("net/eth0");
  EXPECT_EQ(device(), "");
  has_device("gni/kgni0");
  EXPECT_EQ(device(), "/sys/class/gni/kgni0");
  has_device("infiniband/mlx5_0");
  has_device("infiniband/hfi1_0");
  EXPECT_EQ(device(), "/sys/class/infiniband/hfi1_0");
  EXPECT_EQ(better_network(device(), {}, {}), "the node has /sys/class/infiniband/hfi1_0");
}

TEST_F(BetterNetwork, AControllerThatIsNotEthernetMayBeOfAnUnknownNetwork) {
  const auto controller = [&] { return unknown_controller(root_.string()); };
  EXPECT_EQ(controller(), "");
  has_controller("0000:00:01.0", "0x010802");  // NVMe
  has_controller("0000:00:02.0", "0x020000");  // Ethernet
  EXPECT_EQ(controller(), "");
  has_controller("0000:17:00.0", "0x028000");
  EXPECT_EQ(controller(), "/sys/bus/pci/devices/0000:17:00.0");
  EXPECT_EQ(device(), "") << "whether the MPI library uses it is not known";
}

TEST_F(BetterNetwork, AnInfiniBandControllerMayBeASerialBus) {
  has_controller("0000:03:00.0", "0x0c0330");  // USB
  EXPECT_EQ(unknown_controller(root_.string()), "");
  has_controller("0000:17:00.0", "0x0c0600");
  EXPECT_EQ(unknown_controller(root_.string()), "/sys/bus/pci/devices/0000:17:00.0");
}

TEST_F(BetterNetwork, OfOpenFilesOnlyDevicesThatMayBeNetworksAndListenersCount) {
  const Socket listener(SOCK_STREAM, true), bound(SOCK_STREAM, false), datagrams(SOCK_DGRAM, false);
  has_open(0, "/dev/null");
  has_open(1, "/dev/pts/3");
  has_open(2, "/home/user/dev/kgni0");
  has_open(1003, "/dev/shm/open_mpi.0000 (deleted)");
  has_open(1004, "/dev/nvidia0");
  has_open(1005, "/dev/xpmem");
  has_open(1006, "/dev/kgni0");
  has_open(1007, "socket:[1]");  // of another kind: the process has no such descriptor
  for (const Socket* one : {&listener, &bound, &datagrams}) {
    has_open(one->descriptor(), "socket:[" + std::to_string(one->descriptor()) + "]");
  }
  const OpenFiles found = open();
  EXPECT_EQ(found.devices, std::vector<std::string>{"/dev/kgni0"});
  EXPECT_EQ(found.listeners, std::vector<std::string>{"socket:[" + std::to_string(listener.descriptor()) + "]"});
}

TEST_F(BetterNetwork, TheOwnDescriptorsOfAProcessAreRead) {
  const OpenFiles before = open_files();
  const Socket listener(SOCK_STREAM, true);
  EXPECT_EQ(better_network("", before, open_files()), "");
  EXPECT_NE(better_network("", open_files(), open_files()), "") << "it was open before";
}

// Open MPI, MPICH and Intel MPI over TCP; then over what Urakata does not know, and with a socket of the launcher's
// alone.
TEST_F(BetterNetwork, WhatIsNotKnownToBeTcpIsBetter) {
  const OpenFiles launcher{.devices = {"/dev/strange0"}, .listeners = {"socket:[1]"}};
  OpenFiles tcp = launcher;
  tcp.listeners.emplace_back("socket:[2]");
  EXPECT_EQ(better_network("", launcher, tcp), "");
  EXPECT_EQ(better_network("", {}, tcp), "the MPI library uses /dev/strange0");
  OpenFiles both = tcp;
  both.devices.emplace_back("/dev/tofu/dev/tni0cq0");
  EXPECT_EQ(better_network("", launcher, both), "the MPI library uses /dev/tofu/dev/tni0cq0");
  EXPECT_EQ(better_network("", launcher, launcher), "the MPI library does not listen for TCP connections");
}

}  // namespace
}  // namespace urakata::job::better_network_test
