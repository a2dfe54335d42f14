// SPDX-License-Identifier: BSD-3-Clause
#include "shim/entries/test_array.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "shim/completion/completion.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/native_library.hpp"
#include "shim/requests/request_array.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {

namespace {

constexpr int kStale = -1;

// The index, `from` or more, of the next request of ours that is active and finished. `count`: there is none. kStale: a
// stale handle comes first. `*active` becomes true if an active one was found. Notes an unsuccessful test of the
// others.
int next_finished(int from, int count, const MPI_Request* requests, bool* active) {
  for (int i = from; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    Request* request = find_request(requests[i]);
    if (request == nullptr) return kStale;
    if (!request->active) continue;
    *active = true;
    if (request->finished()) return i;
    request->operations().note_unsuccessful_test(*request);
  }
  return count;
}

// Where the test of an array begins. Usually at its first request, as in MPI libraries and as programs expect, and with
// our requests before the MPI library's. But if a request of ours is finished in each test, or several in turn are,
// that would keep the others out. So after each kMostFromFirst successes in an array, one test begins elsewhere:
// alternately with the MPI library's requests, and behind the highest index found since a test last began so. A request
// that stays finished is therefore found at last: until then only requests before it are found, and the tests begin
// farther on each time, or again at the beginning. (If a thread tests more than four arrays in turn, it remembers none
// long enough.)
class Order {
 public:
  explicit Order(const MPI_Request* requests) : history_(history_of(requests)) {
    if (history_.successes < kMostFromFirst) return;
    history_.successes = 0;
    history_.theirs = !history_.theirs;
    theirs_first = history_.theirs;
    if (theirs_first) return;
    first = history_.behind;
    history_.behind = 0;
  }
  void found_ours(int index) const {
    ++history_.successes;
    history_.behind = std::max(history_.behind, index + 1);
  }

  bool theirs_first = false;
  int first = 0;

 private:
  static constexpr unsigned kMostFromFirst = 64;
  struct History {
    const MPI_Request* requests = nullptr;
    unsigned successes = 0;  // requests of ours found since a test began elsewhere: only these keep others out
    int behind = 0;          // one more than the highest index found since a test of ours began elsewhere
    bool theirs = false;     // whether the last test that began elsewhere began with the MPI library's requests
  };
  // Of several arrays, since a program may test its sends and its receives in turn.
  static constinit thread_local std::array<History, 4> histories;
  static constinit thread_local unsigned newcomers;

  static History& history_of(const MPI_Request* requests) {
    for (History& history : histories) {
      if (history.requests == requests) return history;
    }
    History& oldest = histories[newcomers++ % histories.size()];
    oldest = {.requests = requests};
    return oldest;
  }

  History& history_;
};
constinit thread_local std::array<Order::History, 4> Order::histories;
constinit thread_local unsigned Order::newcomers = 0;

// Completes a request of ours that is finished, if there is one: the next from `first` on, else from the beginning on.
int test_ours(int first, int count, MPI_Request* requests, int* index, bool* active, MPI_Status* status,
              std::uint64_t begin) {
  int found = next_finished(first, count, requests, active);
  if (found == count) {
    found = next_finished(0, first, requests, active);
    if (found == first) return MPI_SUCCESS;
  }
  if (found == kStale) return stale();
  *index = found;
  return complete(*find_request(requests[found]), requests + found, status, begin);
}

// Has the MPI library complete one of its own requests, if one is done. `*active`: whether one was active.
int test_theirs(int count, MPI_Request* requests, int* index, bool* active, MPI_Status* status) {
  MPI_Request* const theirs = without_ours(count, requests);
  if (!native_has_some()) return MPI_SUCCESS;
  int flag = 0;
  const int code = native.Testany(count, theirs, index, &flag, status);
  put_back(count, requests);
  *active = *index != MPI_UNDEFINED || flag == 0;
  return code;
}

}  // namespace

int test_any_of(int count, MPI_Request* requests, int* index, bool* none_active, MPI_Status* status,
                std::uint64_t begin) {
  *index = MPI_UNDEFINED;
  *none_active = false;
  const Order order(requests);
  bool ours_active = false;
  bool theirs_active = false;
  for (const bool theirs : {order.theirs_first, !order.theirs_first}) {
    const int code = theirs
                         ? test_theirs(count, requests, index, &theirs_active, status)
                         : test_ours(std::min(order.first, count), count, requests, index, &ours_active, status, begin);
    if (!theirs && *index != MPI_UNDEFINED) order.found_ours(*index);
    if (code != MPI_SUCCESS || *index != MPI_UNDEFINED) return code;
  }
  if (ours_active) {
    note_unsuccessful_call();
  } else if (!theirs_active) {
    *none_active = true;
    empty_status(status);
  }
  return MPI_SUCCESS;
}

int test_some_of(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses, std::uint64_t begin) {
  *done = 0;
  Failure failure;
  MPI_Request* const theirs = without_ours(count, requests);
  bool ours_active = false;
  int code = MPI_SUCCESS;
  int theirs_done = MPI_UNDEFINED;
  if (native_has_some()) {
    code = native.Testsome(count, theirs, &theirs_done, indices, statuses);
    put_back(count, requests);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
    if (theirs_done != MPI_UNDEFINED) *done = theirs_done;
    if (code == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {  // the call may fail yet, by one of ours
      for (int i = 0; i < *done; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
  }
  for (int i = 0; (i = next_finished(i, count, requests, &ours_active)) < count; ++i) {
    if (i == kStale) return stale();
    const int k = (*done)++;
    indices[k] = i;
    const int own = complete(*find_request(requests[i]), requests + i, at(statuses, k), begin, failure);
    if (statuses != MPI_STATUSES_IGNORE) statuses[k].MPI_ERROR = own;
  }
  if (!ours_active && theirs_done == MPI_UNDEFINED) *done = MPI_UNDEFINED;
  if (ours_active && *done == 0) note_unsuccessful_call();
  return code != MPI_SUCCESS ? code : failure.tell_of_array();
}

}  // namespace urakata::shim
