// Persistent neighbourhood collectives of a communicator whose ranks all share this rank's space: an exchange plan
// (halo/plan.hpp) behind one of our requests.
//
// Nobody moves a plan but its rank, in calls of the program and where the host calls us while the program is blocked in
// it (Progress); where it cannot, the helper that looks after messages.
//
// Thread-safety: by any thread; a plan belongs to one at a time.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "halo/plan.hpp"
#include "observe/call_site.hpp"
#include "shim/call.hpp"
#include "shim/call_reading.hpp"
#include "shim/spin_lock.hpp"

namespace urakata::shim {

class PlannedExchange {
 public:
  static constexpr std::string_view kAlgorithm = "exchange plan";
  static constexpr std::string_view kWhy = "all ranks share a space";

  // Collective over the communicator, of which `group` has a context that nothing uses. nullptr, on all ranks alike: not
  // to be had here. Otherwise make_request() may be called. The layouts must outlive it. The reading is used up.
  static std::unique_ptr<PlannedExchange> make(const Call& call, const Reading& reading, const Communicator& group);

  PlannedExchange(const PlannedExchange&) = delete;
  PlannedExchange& operator=(const PlannedExchange&) = delete;

  ~PlannedExchange();

  // Who is told of the end of each exchange; nullptr: nobody.
  void observe(observe::Passage* passage) { observed_ = passage; }

  // The exchange before is done. Does not allocate.
  void begin();
  // Is the exchange that was begun last complete? The program may use its buffers then.
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Moves it on, if nobody else does. Returns whether anything moved.
  bool progress();
  // Returns when it is done, having moved everything else as well.
  void wait();

  // The program needs it no more: it is completed if it must be, and its memory is given back when the neighbours need
  // it no more either.
  // `types`: held, of its layouts; let go of when nobody needs them.
  static void abandon(std::unique_ptr<PlannedExchange> exchange, std::vector<const Datatype*> types);

  // In MPI_Finalize, when all ranks are there: none is moved on any more, be it under way or not.
  static void stop_all();
  // After a barrier behind stop_all(): what was abandoned is destroyed, whoever has not let go of it.
  static void destroy_abandoned();

 private:
  PlannedExchange(std::span<const halo::End> out, std::span<const halo::End> in, const std::byte* from, std::byte* to,
                  const halo::Costs& costs);
  bool join(const Reading& reading, const Communicator& group);
  void end();
  void retire();
  static std::unique_ptr<PlannedExchange> make_here(const Reading& reading);
  static void destroy_released();

  halo::Plan plan_;
  const std::byte* const from_;
  std::byte* const to_;
  SpinLock lock_;           // of plan_ and abandoned_
  bool abandoned_ = false;  // to be retired when it is done
  observe::Passage* observed_ = nullptr;
  std::vector<const Datatype*> types_;  // held, once it is abandoned
  std::atomic<bool> done_{true};
};

// Moves on all exchanges that are under way. Returns whether anything moved.
bool progress_exchanges();
// Are any under way?
bool exchanges_under_way();

}  // namespace urakata::shim
