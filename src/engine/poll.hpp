// Engine `poll`: instances advance inside MPI calls only.
#pragma once

#include "engine/engine.hpp"

namespace urakata::engine {

class PollEngine final : public Engine {
 public:
  using Engine::Engine;
  std::string_view name() const override { return "poll"; }
  void started(bool /*brief*/) override { begin(); }  // posts the first messages at once, and computes nothing
};

}  // namespace urakata::engine
