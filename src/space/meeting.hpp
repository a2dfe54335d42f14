// Where the proxy processes of one job on one node find their space daemon: a socket whose name all of them compute. The
// first one creates it. The socket is in Linux's abstract name space: it needs no file, leaves none, and each network
// name space has its own. Anybody may connect to such a name, so both sides check which user the other belongs to.
#pragma once

#include <string>

#include "base/result.hpp"
#include "space/descriptor.hpp"

namespace urakata::space {

// A name of this process's job, the same for all its ranks on the node. If this process descends from the proxy that
// Hydra (MPICH, Intel MPI) runs on each node, that proxy: the environment may name what Hydra was started in, such as a
// Slurm step with several jobs. Else what the launcher's variables name (PMIX_NAMESPACE, SLURM_JOB_ID with
// SLURM_STEP_ID, PMI_JOBID). Else the process that started this one. Where a shell or wrapper is between, the
// urakata-exec before it has found the name, and passes it on in kJobVariable.
std::string job_identity();

// The socket's name: from user, job, and the name spaces of the process, so that processes which see other files or
// other pids have another daemon.
std::string meeting_name(const std::string& job);

// A connection to the daemon of that name. Where there is none yet, this process brings it up by running the program
// `daemon`: a process of its own, no child of this one. Error: why there is no daemon to be had.
Result<Descriptor> connect_to_daemon(const std::string& name, const std::string& daemon);

// Whether the process at the other end has this process's effective user.
bool same_user(int socket);

// The descriptors that a daemon is started with.
inline constexpr int kListeningDescriptor = 3;
inline constexpr int kFounderDescriptor = 4;

}  // namespace urakata::space
