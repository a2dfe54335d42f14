// The table of engines, best first, and the engines of a process that are made from it. A further engine is a row here,
// a file beside it, and its name among the choices of option ENGINE.
//
// Thread-safety: make() before anything else; the rest by any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/thread.hpp"

namespace urakata::engine {

// What decides which engines a run has.
struct Environment {
  EngineKind wish = EngineKind::poll;
  // Of the wished engine, where it has helpers: not all ranks are on this node, or they were asked for all the same.
  bool helpers_pay = true;
  bool hook = false;      // the host calls Urakata while a rank waits in it
  bool threads = false;   // the host allows calls by several threads at once (MPI_THREAD_MULTIPLE)
  std::string placement;  // one sentence: where helpers are, or would be
};

struct EngineRow {
  std::string_view name;  // a choice of option ENGINE
  // One for each progress domain, each with a helper on a core that was chosen for it. Else there is one, which callers
  // run.
  bool helpers;
  // Does it need a host that allows calls by several threads at once? Known before MPI_Init: not by `threads` and
  // `placement`.
  bool (*needs_threads)(const Environment& environment);
  // Is it to be had in this run? The error says why not, and what to do.
  Status (*usable)(const Environment& environment);
  // Settings: of its helper, where it has one.
  std::unique_ptr<Engine> (*make)(Domain& domain, const Environment& environment, const HelperSettings& settings);
};

std::span<const EngineRow> engine_table();
// nullptr: there is none of that name.
const EngineRow* engine_row(std::string_view name);
// Would an engine of this run need a host that allows calls by several threads at once?
bool need_threads(const Environment& environment);

class Engines {
 public:
  // Makes all that are usable: of those with helpers one for each of `helpers`, with settings(i).
  void make(const Environment& environment, std::size_t helpers,
            const std::function<std::unique_ptr<Domain>()>& make_domain,
            const std::function<HelperSettings(std::size_t)>& settings);

  const std::vector<Engine*>& all() const { return all_; }
  // The best; there is one after make().
  Engine& best() const { return *kinds_.front().engines.front(); }
  // For a new communicator: of the best row, dealt out in turn. `callers_only`: of the best one without helpers, if
  // there is one. nullptr before make().
  Engine* next(bool callers_only);
  // By its row's name; nullptr where it was not to be had, for which why_not() has the reason.
  Engine* named(std::string_view name) const;
  std::string why_not(std::string_view name) const;

 private:
  struct Kind {
    const EngineRow* row;
    std::vector<std::unique_ptr<Engine>> engines = {};
  };

  Environment environment_;
  std::vector<std::unique_ptr<Domain>> domains_;
  std::vector<Kind> kinds_;  // those that there are, best first
  std::vector<Engine*> all_;
  std::atomic<std::size_t> dealt_{0};
};

}  // namespace urakata::engine
