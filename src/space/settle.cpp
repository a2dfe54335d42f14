// SPDX-License-Identifier: BSD-3-Clause
#include "space/settle.hpp"

#include "space/fork_guard.hpp"
#include "space/own_mappings.hpp"
#include "space/registry.hpp"

namespace urakata::space {

void settle() {
  const auto membership = own_membership();
  if (!membership || membership->registry->tasks[membership->slot].settled.exchange(true)) return;
  map_in_own_ranges(*membership);
  leave_others_out_of_forks(*membership);
}

}  // namespace urakata::space
