#include "p2p/turn.hpp"

#include "p2p/fence.hpp"

namespace urakata::p2p {

bool Turn::try_as_helper() {
  if (program_in_.load(std::memory_order_relaxed)) return false;
  if (held_.exchange(true, std::memory_order_seq_cst)) return false;  // another helper's
  // Without the fence the helper must not go on: the program's thread may be in, unseen.
  if (fence_all_threads() && !program_in_.load(std::memory_order_acquire)) return true;
  held_.store(false, std::memory_order_release);
  return false;
}

}  // namespace urakata::p2p
