// SPDX-License-Identifier: BSD-3-Clause
// Links operations of programs' own (include/urakata_op.bpf.h) to the eBPF code for small collectives.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata {

struct OwnOp {
  std::string name;
  std::string file;  // path of the operation's eBPF code
};

// A file of eBPF code with all operations, removed with this object.
class LinkedOps {
 public:
  // `ebpf`: path of the eBPF code; without operations, file() is this path, which is not removed. `wanted`: at most
  // URA_XDP_OPS. Loads each operation by itself and then all of them, so that the error names the one that the kernel
  // refuses. Needs the right to load eBPF code.
  static Result<LinkedOps> link(const std::string& ebpf, std::vector<OwnOp> wanted);
  ~LinkedOps();
  LinkedOps(LinkedOps&& other) noexcept;
  LinkedOps& operator=(LinkedOps&&) = delete;
  LinkedOps(const LinkedOps&) = delete;
  LinkedOps& operator=(const LinkedOps&) = delete;

  const std::string& file() const { return file_; }
  const ura_xdp_ops& ops() const { return ops_; }

 private:
  LinkedOps() = default;
  std::string folder_;  // temporary folder with all files; empty: nothing was linked
  std::string file_;
  ura_xdp_ops ops_{};
};

}  // namespace urakata
