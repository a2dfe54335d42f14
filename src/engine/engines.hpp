// SPDX-License-Identifier: BSD-3-Clause
// The table of engines, and the engines of a process that are made from it. A further engine is a row here,
// a file beside it, its name among the choices of option ENGINE, and a row of what it needs where the choice is made,
// best first (tune/engine_choice.hpp).
//
// Thread-safety: make() before anything else; the rest by any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/thread.hpp"

namespace urakata::engine {

struct EngineRow {
  std::string_view name;  // a choice of option ENGINE
  // It has a progress thread on a core that was chosen for it. Else callers run it.
  bool progress_threads;
  // Periodic: the MPI library does not call Urakata while a rank waits in it, and a thread of ours may call the MPI
  // library. Settings: of its progress thread, where it has one.
  std::unique_ptr<Engine> (*make)(Domain& domain, bool periodic, const ProgressThreadSettings& settings);
  // Its domain, where that is no ordinary one; nullptr: it is.
  std::unique_ptr<Domain> (*domain)(const transport::Failures& failures) = nullptr;
};

std::span<const EngineRow> engine_table();

class Engines {
 public:
  // Makes those of these names, given best first; one that runs only what was made for it comes last. `periodic`: see
  // EngineRow::make. `failures`: where what other ranks tell is left. make_domain(progress_thread): is it one that a
  // progress thread runs? `settings`: of an engine with a progress thread.
  void make(std::span<const std::string_view> names, bool periodic, const transport::Failures& failures,
            const std::function<std::unique_ptr<Domain>(bool progress_thread)>& make_domain,
            const ProgressThreadSettings& settings);

  const std::vector<Engine*>& all() const { return all_; }
  // The best; there is one after make().
  Engine& best() const { return *kinds_.front().engine; }
  // For a new communicator: the best. `callers_only`: the best one without a progress thread, if there is one. nullptr
  // before make().
  Engine* next(bool callers_only) const;
  // By its row's name; nullptr where it was not made.
  Engine* named(std::string_view name) const;

 private:
  struct Kind {
    const EngineRow* row;
    std::unique_ptr<Engine> engine;
  };

  std::vector<std::unique_ptr<Domain>> domains_;
  std::vector<Kind> kinds_;  // those that there are, best first
  std::vector<Engine*> all_;
};

}  // namespace urakata::engine
