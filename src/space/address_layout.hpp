// SPDX-License-Identifier: BSD-3-Clause
// Finds out where the kernel places the mappings of this process, and which addresses it leaves free. Both depend on
// how the process was started: the limit of the stack (ulimit -s), setarch, vm.legacy_va_layout, the processor.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "space/registry.hpp"

namespace urakata::space {

struct AddressLayout {
  std::vector<AddressRange> mapped;  // ascending, without what the kernel maps above the process's addresses
  std::uint64_t next = 0;            // where the kernel would place a large mapping now
  bool upward = false;               // whether the mapping after that one lies above it, and not below
};

// The layout of the calling process. Maps some GiB without access rights for a moment. Error: what the kernel refused.
Result<AddressLayout> own_address_layout();

// The largest range of free addresses that the space may use; empty (0 to 0) if there is none. Three parts of the free
// addresses are left out. The kernel keeps an eighth of all addresses, in the direction in which it places mappings.
// The lowest eighth is for programs that ask for fixed addresses. 64 GiB beside each mapping are for heaps and stacks.
AddressRange range_left_free(const AddressLayout& layout);

}  // namespace urakata::space
