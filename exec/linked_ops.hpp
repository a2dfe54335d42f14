// SPDX-License-Identifier: BSD-3-Clause
// Operations of programs' own (include/urakata_op.bpf.h) put together with the eBPF code of small reductions.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata {

struct OwnOp {
  std::string name;
  std::string file;  // eBPF code
};

// A file of eBPF code that has them all, until it goes.
class LinkedOps {
 public:
  // All of it has been tried with the kernel, and each operation by itself before, so that the error names the one that
  // is refused. At most URA_XDP_OPS. Needs the right to load eBPF code.
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
  std::string folder_;  // ours; empty: nothing was linked
  std::string file_;
  ura_xdp_ops ops_{};
};

}  // namespace urakata
