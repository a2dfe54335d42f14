// An exchange plan (halo/plan.hpp) of this rank, under way or not: of a persistent neighbourhood collective, behind one of
// our requests, or of a halo of urakata.h. All ranks of the communicator share this rank's space.
//
// Nobody moves a plan but its rank, in calls of the program and where the host calls us while the program is blocked in
// it (Progress); where it cannot, the helper that looks after messages.
//
// Thread-safety: by any thread; a plan belongs to one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
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

  // Of a persistent collective. Collective over the communicator, of which `group` has a context that nothing uses.
  // nullptr, on all ranks alike: not to be had here. Otherwise make_request() may be called. The layouts must outlive it.
  // The reading is used up.
  static std::unique_ptr<PlannedExchange> make(const Call& call, const Reading& reading, const Communicator& group);
  // Of edges whose ends the caller joins, as halo/plan.hpp says, which has all ranks agree. nullptr: not to be had on this
  // rank. The layouts must outlive it.
  static std::unique_ptr<PlannedExchange> make(std::span<const halo::End> out, std::span<const halo::End> in);
  halo::Record record(std::size_t out) { return plan_.record(out); }
  halo::Fit join(std::size_t in, const halo::Record& record) { return plan_.join(in, record); }

  PlannedExchange(const PlannedExchange&) = delete;
  PlannedExchange& operator=(const PlannedExchange&) = delete;

  ~PlannedExchange();

  // Who is told of the end of each exchange; nullptr: nobody.
  void observe(observe::Passage* passage) { observed_ = passage; }

  // What the ends' offsets count from, in exchanges that begin from now on. The one before is done.
  void bind(const std::byte* from, std::byte* to) {
    from_ = from;
    to_ = to;
  }
  // The exchange before is done. Does not allocate.
  void begin();
  // Is the exchange that was begun last complete? The program may use its buffers then.
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Moves it on, if nobody else does. Returns whether anything moved.
  bool progress();
  // As the plan's, of the exchange that was begun last.
  bool ready(std::size_t in);
  std::optional<std::size_t> ready_any();
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
  PlannedExchange(std::span<const halo::End> out, std::span<const halo::End> in, const halo::Costs& costs);
  bool join_all(const Reading& reading, const Communicator& group);
  bool settle();
  void end();
  void retire();
  static std::unique_ptr<PlannedExchange> make_here(const Reading& reading);
  static void destroy_released();

  halo::Plan plan_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
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
