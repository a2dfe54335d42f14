// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/places.hpp"

#include <sys/stat.h>

namespace urakata::xdp {

std::string folder_of(unsigned interface) {
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  return std::string(kMountPoint) + "/" + std::to_string(network.st_ino) + "-" + std::to_string(interface);
}

std::string table_in(const std::string& folder, uid_t user) { return folder + "/" + std::to_string(user); }
std::string ops_in(const std::string& folder) { return folder + "/ops"; }
std::string table_of(unsigned interface, uid_t user) { return table_in(folder_of(interface), user); }
std::string ops_of(unsigned interface) { return ops_in(folder_of(interface)); }

}  // namespace urakata::xdp
