#include "shim/look.hpp"

#include "shim/completion.hpp"
#include "shim/host.hpp"
#include "shim/request_array.hpp"

namespace urakata::shim {

namespace {

constexpr int kStale = -1;

// The index, `from` or more, of the next request of ours that is active and finished; `count`: there is none; kStale: a
// handle of ours before it is not in use. *active becomes true where one is active; those before it were looked at in
// vain.
int next_finished(int from, int count, const MPI_Request* requests, bool* active) {
  for (int i = from; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return kStale;
    if (!request->active) continue;
    *active = true;
    if (request->finished()) return i;
    looked_in_vain(*request);
  }
  return count;
}

}  // namespace

int look_for_any(int count, MPI_Request* requests, int* index, bool* none_active, MPI_Status* status,
                 std::uint64_t begin) {
  *index = MPI_UNDEFINED;
  *none_active = false;
  bool ours_active = false;
  const int ours = next_finished(0, count, requests, &ours_active);
  if (ours == kStale) return stale();
  if (ours < count) {
    *index = ours;
    return complete(*find_request(requests[ours]), requests + ours, status, begin);
  }
  MPI_Request* const theirs = without_ours(count, requests);
  int flag = 1;
  int found = MPI_UNDEFINED;
  int code = MPI_SUCCESS;
  if (host_has_some()) {
    code = host.Testany(count, theirs, &found, &flag, status);
    put_back(count, requests);
  }
  if (found != MPI_UNDEFINED) {
    *index = found;
  } else if (ours_active) {
    called_in_vain();
  } else if (flag != 0) {
    *none_active = true;
    empty_status(status);
  }
  return code;
}

int look_for_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses,
                  std::uint64_t begin) {
  *done = 0;
  Failure failure;
  MPI_Request* const theirs = without_ours(count, requests);
  bool ours_active = false;
  int code = MPI_SUCCESS;
  int theirs_done = MPI_UNDEFINED;
  if (host_has_some()) {
    code = host.Testsome(count, theirs, &theirs_done, indices, statuses);
    put_back(count, requests);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
    if (theirs_done != MPI_UNDEFINED) *done = theirs_done;
  }
  for (int i = 0; (i = next_finished(i, count, requests, &ours_active)) < count; ++i) {
    if (i == kStale) return stale();
    const int k = (*done)++;
    indices[k] = i;
    const int own = complete(*find_request(requests[i]), requests + i, at(statuses, k), begin, failure);
    if (statuses != MPI_STATUSES_IGNORE) statuses[k].MPI_ERROR = own;
  }
  if (!ours_active && theirs_done == MPI_UNDEFINED) *done = MPI_UNDEFINED;
  if (ours_active && *done == 0) called_in_vain();
  return code != MPI_SUCCESS ? code : failure.tell_of_array();
}

}  // namespace urakata::shim
