// Is this thread one of ours? What the program's threads have among themselves needs no lock against helpers then.
#pragma once

namespace urakata {

// Set by each helper when it begins. Of the model that needs no call, wherever it is read.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool on_helper_thread = false;

}  // namespace urakata
