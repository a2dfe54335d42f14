// SPDX-License-Identifier: BSD-3-Clause
// Where the tables of an interface are (frame.h): in a bpffs of ours that all users may list, with one file for each
// user, and one for the operations of programs' own. The folder of an interface is named by the interface's number and
// its network namespace, since each namespace may have an interface of the same name.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace urakata::xdp {

inline constexpr std::string_view kMountPoint = "/run/urakata/bpf";

// The folder of an interface, by its number in this network namespace.
std::string folder_of(unsigned interface);
// In the folder of an interface: the file of a user's table, and that of the map whose one entry is the ura_xdp_ops.
std::string table_in(const std::string& folder, uid_t user);
std::string ops_in(const std::string& folder);
// As table_in() and ops_in(), in folder_of(interface).
std::string table_of(unsigned interface, uid_t user);
std::string ops_of(unsigned interface);

}  // namespace urakata::xdp
