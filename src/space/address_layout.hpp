// Where the kernel puts the mappings of this process, as it shows, and which addresses it leaves alone. Both depend on
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

// That of the calling process. Maps some GiB without rights for a moment. Error: what the kernel refused.
Result<AddressLayout> own_address_layout();

// The largest range of free addresses that stays free. The kernel keeps an eighth of all addresses in the direction in
// which it places mappings. Also left alone are the lowest eighth, where programs ask for certain addresses, and some
// GiB beside what is mapped, which heaps and stacks may take.
AddressRange range_left_free(const AddressLayout& layout);

}  // namespace urakata::space
