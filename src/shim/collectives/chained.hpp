// SPDX-License-Identifier: BSD-3-Clause
// Which collectives the kernel runs, and by which chains.
#pragma once

#include <memory>

#include "chain/chained_schedule.hpp"
#include "collectives/collectives.hpp"
#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

// Of a collective on a communicator that has a channel set: an algorithm all of whose ranks' schedules can be chained,
// `chosen` if it can be. nullptr, on all ranks alike: engine thread has it.
const collectives::Algorithm* chainable(collectives::Operation operation, const collectives::Algorithm& chosen,
                                        const collectives::Arguments& arguments);

// Of such an algorithm's schedule for this rank.
Result<std::shared_ptr<const chain::ChainedSchedule>> chained(collectives::Operation operation,
                                                              const collectives::Algorithm& algorithm,
                                                              const schedule::Schedule& schedule);

}  // namespace urakata::shim
