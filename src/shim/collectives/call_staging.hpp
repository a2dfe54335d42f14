// SPDX-License-Identifier: BSD-3-Clause
// Staging of a collective's buffers that are in device memory (requests/staging.hpp).
//
// Thread-safety: as MPI says of the call.
#pragma once

#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// Stages the buffers of a collective that is about to be bound. Addresses in the call become those of the staging
// buffers. The request retains the datatypes. Returns an MPI error code; the reason has been logged, and no error
// handler called.
int stage_call(Call& call, Reading& reading, Request& request);
// Whether a collective without a reduction has a buffer that must be staged; true also if that is unknown.
[[gnu::cold]] bool needs_staging(const Reading& reading);

}  // namespace urakata::shim
