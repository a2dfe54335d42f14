// SPDX-License-Identifier: BSD-3-Clause
// Where the proxy processes of one job on one node find their space daemon: a socket whose name all of them compute.
// The first one creates it. The socket is in Linux's abstract name space: it needs no file, leaves none, and each
// network name space has its own. Any user may connect to such a name, so each side checks that the process at the
// other end belongs to the same user.
#pragma once

#include <string>

#include "base/result.hpp"
#include "space/descriptor.hpp"

namespace urakata::space {

// A name of this process's job, the same for all its ranks on the node. It is taken from the first of these that
// exists:
//   1. the nearest launcher among this process's ancestors, if it sets no variable with the job's name: Hydra's proxy
//      (MPICH, Intel MPI), mpiexec.gforker. Variables in the environment may then name a Slurm step with several jobs;
//   2. the launcher's variables (PMIX_NAMESPACE, SLURM_JOB_ID with SLURM_STEP_ID, PMI_JOBID);
//   3. kJobVariable, in which a urakata-exec passes the name on through a shell or wrapper that it starts;
//   4. the process that started this one.
std::string job_identity();

// The socket's name. It is computed from the user, the job, and the name spaces of this process. So processes that see
// other files or other pids have another space daemon.
std::string meeting_name(const std::string& job);

// Connects to the space daemon of that name. If there is none yet, this process starts it by running the program
// `daemon`. The daemon is no child of this process. Error: why there is no connection.
Result<Descriptor> connect_to_daemon(const std::string& name, const std::string& daemon);

// Whether the process at the other end of the socket has this process's effective user.
bool same_user(int socket);

// The descriptors that the space daemon is started with: the listening socket, and the connection of the process that
// started it.
inline constexpr int kListeningDescriptor = 3;
inline constexpr int kFounderDescriptor = 4;

}  // namespace urakata::space
