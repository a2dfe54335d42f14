// SPDX-License-Identifier: BSD-3-Clause
// The endpoint's beginning in MPI_Init, and its end in MPI_Finalize (process/space.hpp).
//
// Thread-safety: by the thread that calls MPI_Init and MPI_Finalize; stop_message_progress() also by an exit handler.
#pragma once

namespace urakata::shim {

// Finds out which ranks are in the same space as this one and which its link reaches, and opens the endpoint
// communicator of MPI_COMM_WORLD. Collective over MPI_COMM_WORLD. `wanted`: this rank was started to be in a space;
// ranks that were not call it, too. `progress_thread`: the MPI library cannot call Urakata while the program is blocked
// in it, so a progress thread progresses the messages.
void enter_space(bool wanted, bool progress_thread);

// Collective, once the program sends no more. Returns when all ranks have called it: the messages that they still
// expected from this rank have then been moved. Does nothing if no rank of the job has an endpoint or the wire.
void leave_space();

// Ends the progress threads for messages and for exchanges: in MPI_Finalize, or if the process ends without it. May be
// called repeatedly.
void stop_message_progress();

}  // namespace urakata::shim
