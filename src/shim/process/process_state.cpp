// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/process_state.hpp"

namespace urakata::shim {

constinit ProcessState process_state;

}  // namespace urakata::shim
