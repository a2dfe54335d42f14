// SPDX-License-Identifier: BSD-3-Clause
// eBPF code for small reductions at a network interface (xdp/frame.h): attached, detached, looked at. Needs root.
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
  std::string ebpf;          // file
  std::vector<uid_t> users;  // who may reduce there; at most URA_XDP_USERS
  std::vector<OwnOp> ops;    // of programs' own; see linked_ops.hpp
  bool generic = false;      // in the kernel's own part, for interfaces whose driver does not run eBPF code itself
};

// Other programs at the interface stay, by libxdp's dispatcher. What it was attached with before is replaced when all
// else has been done; after an error it is as it was. From the kernel's own part to the driver's, or back, is no
// replacement but an error, since the kernel does not allow both at a time.
Status attach(const AttachWish& wish);
// Also what is left of one that ended half way. The interface's name, as it is now.
Status detach(const std::string& interface);

struct Attached {
  std::string interface;
  bool native = false;  // by the interface's driver
  std::vector<uid_t> users;
  ura_xdp_ops ops{};
};
// Of this network namespace.
std::vector<Attached> attached_here();

}  // namespace urakata
