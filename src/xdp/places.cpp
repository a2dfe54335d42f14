#include "xdp/places.hpp"

#include <sys/stat.h>

namespace urakata::xdp {

std::string folder_of(unsigned interface) {
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  return std::string(kMountPoint) + "/" + std::to_string(network.st_ino) + "-" + std::to_string(interface);
}

std::string table_of(unsigned interface, uid_t user) { return folder_of(interface) + "/" + std::to_string(user); }

std::string ops_of(unsigned interface) { return folder_of(interface) + "/ops"; }

}  // namespace urakata::xdp
