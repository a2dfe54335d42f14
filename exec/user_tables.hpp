// SPDX-License-Identifier: BSD-3-Clause
// The tables of an interface's users and of its operations (xdp/places.hpp), in a bpffs of ours. They are made aside,
// where jobs do not find them, and take the place of those before when the eBPF code that they belong to is attached.
// Needs root.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata {

// The bpffs, if there is none yet.
Status make_mount_point();

// Makes a table for each user, with its number in the eBPF code's map of all users (a descriptor), and that of
// operations. What is left of others that were made aside goes.
Status stage_tables(unsigned interface, int users_map, const std::vector<uid_t>& users, const ura_xdp_ops& ops);
// From here on jobs find the new ones; those before are gone. After an error they are where they were.
Status use_staged_tables(unsigned interface);
// Takes those away that are not in use yet.
void remove_staged_tables(unsigned interface);
// Takes all away.
void remove_tables(unsigned interface);

// Who may reduce at the interface, in ascending order.
std::vector<uid_t> users_at(unsigned interface);

}  // namespace urakata
