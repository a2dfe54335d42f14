// SPDX-License-Identifier: BSD-3-Clause
// Attaches eBPF code for small collectives (xdp/frame.h) to network interfaces, detaches it, and lists where it is
// attached. Needs root.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "linked_ops.hpp"
#include "xdp/frame.h"

namespace urakata {

struct AttachWish {
  std::string interface;
  std::string ebpf;          // path of the eBPF code
  std::vector<uid_t> users;  // users who may reduce there; at most URA_XDP_USERS
  std::vector<OwnOp> ops;    // operations of programs' own; see linked_ops.hpp
  bool generic = false;      // whether the kernel's generic part runs it, for an interface whose driver cannot
};

// Attaches the eBPF code. XDP programs of others stay at the interface, by libxdp's dispatcher. If Urakata's eBPF code
// was attached before, it is replaced as the last step. After an error the interface is as before, unless the message
// says otherwise. It is an error to replace code that the driver runs by generic code, or the reverse: the kernel does
// not allow both at a time.
Status attach(const AttachWish& wish);
// Detaches Urakata's eBPF code, and removes the tables, also those of an attach() that ended half way. `interface`: the
// interface's present name. No error if nothing is attached.
Status detach(const std::string& interface);

struct Attached {
  std::string interface;
  bool native = false;  // whether the interface's driver runs it
  std::vector<uid_t> users;
  ura_xdp_ops ops{};
};
// The interfaces of this network namespace to which Urakata's eBPF code is attached, as far as they can be read.
std::vector<Attached> attached_here();

}  // namespace urakata
