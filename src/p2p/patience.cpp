#include "p2p/patience.hpp"

#include <sched.h>

namespace urakata::p2p {

void Patience::yield() { sched_yield(); }

}  // namespace urakata::p2p
