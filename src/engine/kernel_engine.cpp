// SPDX-License-Identifier: BSD-3-Clause
#include "engine/kernel_engine.hpp"

#include <array>
#include <memory>

#include "chain/ring.hpp"
#include "engine/kernel.hpp"

namespace urakata::engine {

namespace {

std::unique_ptr<Domain> kernel_domain(const transport::Failures& failures) {
  return std::make_unique<Domain>(std::make_unique<ExecutorTransport>(failures));
}

std::unique_ptr<Engine> make_kernel(Domain& domain, bool, const ProgressThreadSettings&) {
  return std::make_unique<KernelEngine>(domain, static_cast<ExecutorTransport&>(domain.transport()));
}

constexpr std::array kKernelRows = {EngineRow{"kernel", false, make_kernel, kernel_domain}};

}  // namespace

std::span<const EngineRow> kernel_rows() { return kKernelRows; }

std::string why_no_kernel_engine() { return chain::why_no_chains(); }

}  // namespace urakata::engine
