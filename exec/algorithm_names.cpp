// SPDX-License-Identifier: BSD-3-Clause
#include "algorithm_names.hpp"

#include <cstddef>
#include <set>
#include <string>

#include "collectives/collectives.hpp"

namespace urakata {

Status known_algorithm(std::string_view operation, std::string_view algorithm) {
  if (!operation.empty()) {
    const Result<collectives::Operation> named = collectives::operation_named(operation);
    if (!named) return named.error();
    const Result<const collectives::Algorithm*> found = collectives::algorithm_named(*named, algorithm);
    if (!found) return found.error();
    return Nothing{};
  }
  std::set<std::string_view> names;
  for (std::size_t one = 0; one < static_cast<std::size_t>(collectives::Operation::count_); ++one) {
    for (const collectives::Algorithm& known : collectives::algorithms(static_cast<collectives::Operation>(one))) {
      names.insert(known.name);
    }
  }
  if (names.contains(algorithm)) return Nothing{};
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return Error{"no operation has an algorithm called \"" + std::string(algorithm) + "\"; there are " + list};
}

}  // namespace urakata
