// SPDX-License-Identifier: BSD-3-Clause
// This user's table at a network interface (frame.h), in this process's memory.
//
// Slots are claimed and released by processes; what a process that is gone had claimed is claimed anew, by one of the
// same pid namespace (owner.hpp). What a container left without releasing it stays until root attaches anew.
//
// Thread-safety: all calls by any thread.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

// The operations of programs' own that are attached at an interface; none where they cannot be read.
ura_xdp_ops ops_at(unsigned interface);

class Table {
 public:
  // Error: why this user may not reduce at the interface, for the user to read.
  static Result<std::shared_ptr<Table>> open(unsigned interface);
  // Is eBPF code attached for this user at any interface of this network namespace?
  static bool any();
  // Over memory of the caller's, which outlives it: for tests.
  static std::shared_ptr<Table> over(ura_xdp_slot* slots, const ura_xdp_ops& ops = {}) {
    return std::shared_ptr<Table>(new Table(slots, false, ops));
  }
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // A slot that nobody else uses, taking no frames yet; nullptr: there is none.
  ura_xdp_slot* claim();
  static void release(ura_xdp_slot& slot);
  std::uint16_t number_of(const ura_xdp_slot& slot) const { return static_cast<std::uint16_t>(&slot - slots_); }
  const ura_xdp_ops& ops() const { return ops_; }

 private:
  Table(ura_xdp_slot* slots, bool mapped, const ura_xdp_ops& ops) : slots_(slots), mapped_(mapped), ops_(ops) {}
  ura_xdp_slot* const slots_;
  const bool mapped_;
  const ura_xdp_ops ops_;
};

}  // namespace urakata::xdp
