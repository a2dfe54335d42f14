// SPDX-License-Identifier: BSD-3-Clause
// Where the tables of an interface are (frame.h): one file for each user, and one for the programs' own operations, in
// a bpffs of ours, which others may look through. Interfaces are named by number and network namespace, since names
// come again in every namespace.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace urakata::xdp {

inline constexpr std::string_view kMountPoint = "/run/urakata/bpf";

// The folder of an interface of this network namespace.
std::string folder_of(unsigned interface);
// The file of a user's table in such a folder, and that of the map whose one entry is the interface's ura_xdp_ops.
std::string table_in(const std::string& folder, uid_t user);
std::string ops_in(const std::string& folder);
// The same in the interface's folder.
std::string table_of(unsigned interface, uid_t user);
std::string ops_of(unsigned interface);

}  // namespace urakata::xdp
