// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/private_comms.hpp"

namespace urakata::shim {

constinit PrivateComms private_comms;

}  // namespace urakata::shim
