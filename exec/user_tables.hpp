// SPDX-License-Identifier: BSD-3-Clause
// The tables of an interface's users, and the table of its operations (xdp/places.hpp), in a bpffs of ours. New tables
// are *staged*: made in a folder where jobs do not find them. They replace those in use when the eBPF code to which
// they belong is attached. Needs root.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata {

// Mounts the bpffs, unless it is mounted.
Status make_mount_point();

// Stages a table for each user and the table of operations. Enters users[i]'s table as number i into the eBPF code's
// map of all users, whose descriptor is `users_map`. Removes what is left of tables that were staged before.
Status stage_tables(unsigned interface, int users_map, const std::vector<uid_t>& users, const ura_xdp_ops& ops);
// Replaces the tables in use by the staged ones. From now on jobs find the new ones. After an error the tables in use
// are still those before.
Status use_staged_tables(unsigned interface);
// Removes the staged tables.
void remove_staged_tables(unsigned interface);
// Removes all tables of the interface, in use or staged.
void remove_tables(unsigned interface);

// The users who have a table at the interface, in ascending order.
std::vector<uid_t> users_at(unsigned interface);

}  // namespace urakata
