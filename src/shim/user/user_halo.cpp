// SPDX-License-Identifier: BSD-3-Clause
#include "shim/user/user_halo.hpp"

#include <utility>

#include "base/clock.hpp"
#include "observe/observer.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/progress/progress.hpp"

namespace urakata::shim {

namespace {

// The present time if the halo is in the report; else 0.
std::uint64_t time_of(const observe::CallSite* site) { return site != nullptr ? now_ns() : 0; }

}  // namespace

UserHalo::~UserHalo() {
  if (exchange_ != nullptr) NeighbourExchange::abandon(std::move(exchange_), std::move(types_));
  if (comm_ != MPI_COMM_NULL) native.Comm_free(&comm_);
}

int UserHalo::failure() {
  const int code = exchange_->error();
  if (code != MPI_SUCCESS) native.Comm_call_errhandler(comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD, code);
  return code;
}

void UserHalo::name(std::string_view given) {
  observe::Observer* const observer = process_state.observer;
  if (observer == nullptr) return;
  const observe::CallSiteKey site{given,
                                  site_,
                                  bytes_,
                                  by_channel() ? "poll" : "native",
                                  by_channel() ? ChannelExchange::kAlgorithm : "persistent messages",
                                  observe::python_line(site_)};
  call_site_ = observer->call_site(site, why_);
}

int UserHalo::begin(const void* from, void* to) {
  const std::uint64_t begin = process_state.observer != nullptr ? now_ns() : 0;
  if (begin != 0) observed_.started(begin);
  int code = MPI_SUCCESS;
  if (by_channel()) {
    exchange_->bind(static_cast<const std::byte*>(from), static_cast<std::byte*>(to));
    exchange_->begin();
  } else {
    code = native_->begin(from, to);
  }
  if (code != MPI_SUCCESS) return code;
  under_way_ = true;
  if (begin != 0) {
    observed_.returned(now_ns(), profiled);
    if (call_site_ == nullptr) name("ura_halo");
    observed_.at(call_site_);
  }
  return MPI_SUCCESS;
}

template <class Ask, class Answer>
int UserHalo::test(Ask ask, Answer& here) {
  int code = ask();
  if (by_channel() && exchange_->error() != MPI_SUCCESS) {
    here = {};
    return failure();
  }
  if (code != MPI_SUCCESS || here) return code;
  const std::uint64_t begin = time_of(call_site_);
  if (!process_state.native_only) the_progress->step_all();
  code = ask();
  if (here) return code;
  note_unsuccessful_call();  // the MPI library's messages move, too
  if (begin != 0) observed_.tested(begin, now_ns());
  return code;
}

int UserHalo::ready(std::size_t in, bool* here) {
  const auto ask = [&]() -> int {
    if (!by_channel()) return native_->ready(in, here);
    *here = exchange_->ready(in);
    return MPI_SUCCESS;
  };
  return test(ask, *here);
}

int UserHalo::ready_any(std::optional<std::size_t>* in) {
  const auto ask = [&]() -> int {
    if (!by_channel()) return native_->ready_any(in);
    *in = exchange_->ready_any();
    return MPI_SUCCESS;
  };
  return test(ask, *in);
}

int UserHalo::end() {
  const std::uint64_t begin = time_of(call_site_);
  int code = MPI_SUCCESS;
  if (by_channel()) {
    exchange_->wait();
    code = failure();
  } else {
    code = native_->wait();
  }
  under_way_ = false;
  if (begin != 0) {
    const std::uint64_t end = now_ns();
    observed_.finished(begin, end, profiled, {},
                       {process_state.world_rank, -1, 0, 0});  // no number tells it from others
  }
  return code;
}

}  // namespace urakata::shim
