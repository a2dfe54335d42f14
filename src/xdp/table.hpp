// SPDX-License-Identifier: BSD-3-Clause
// This user's table at a network interface (frame.h), in this process's memory.
//
// Processes claim and release slots. A slot whose process has ended without releasing it can be claimed by processes of
// the same pid namespace (owner.hpp). If no such process is left, as after a container, it stays until root attaches
// eBPF code anew.
//
// Thread-safety: all calls by any thread.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

// The operations of programs' own that are attached at an interface; none if they cannot be read.
ura_xdp_ops ops_at(unsigned interface);

class Table {
 public:
  // Error: why this user may not reduce at the interface, as a text for the user.
  static Result<std::shared_ptr<Table>> open(unsigned interface);
  // Whether this user has a table at any interface of this network namespace.
  static bool any();
  // For tests: a table in memory of the caller, which must outlive it.
  static std::shared_ptr<Table> over(ura_xdp_slot* slots, const ura_xdp_ops& ops = {}) {
    return std::shared_ptr<Table>(new Table(slots, false, ops));
  }
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // A slot for this process, which takes no frames yet; nullptr: all are in use. To be returned with release(), after
  // which the slot takes no frames any more.
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
