// Binding a request to its call's buffers: addresses for the schedule's slots, and what packs and reduces around them.
#pragma once

#include "shim/call.hpp"
#include "shim/call_reading.hpp"
#include "shim/request.hpp"

namespace urakata::shim {

// The request, fresh from make_request(), then holds the types and the operation that it needs.
void bind_call(const Call& call, const Reading& reading, Request& request);

}  // namespace urakata::shim
