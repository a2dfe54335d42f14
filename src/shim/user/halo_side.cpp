// SPDX-License-Identifier: BSD-3-Clause
#include "shim/user/halo_side.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "shim/native/native_library.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

namespace {

std::string of(const char* what, int neighbour, int rank) {
  return std::string(what) + " neighbour " + std::to_string(neighbour) + " (rank " + std::to_string(rank) + ")";
}

Result<HaloSide> side_of_ranks(int neighbours, const int* given, const char* what, int ranks) {
  if (neighbours < 0 || (neighbours != 0 && given == nullptr)) {
    return Error{std::string("the ranks of ") + std::to_string(neighbours) + " " + what + " neighbours are needed"};
  }
  HaloSide side;
  side.ranks.assign(given, given + neighbours);
  for (int i = 0; i < neighbours; ++i) {
    if (given[i] == MPI_PROC_NULL || (given[i] >= 0 && given[i] < ranks)) continue;
    return Error{of(what, i, given[i]) + " is not in the communicator, which has " + std::to_string(ranks) + " ranks"};
  }
  side.types.reserve(side.ranks.size());
  side.bytes.reserve(side.ranks.size());
  return side;
}

// Neighbouring elements are one block: what is all one block needs no packing anywhere.
OwnType type_of(std::span<const int> indices, MPI_Datatype element) {
  std::vector<int> lengths;
  std::vector<int> places;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i != 0 && indices[i] == indices[i - 1] + 1) {
      ++lengths.back();
    } else {
      lengths.push_back(1);
      places.push_back(indices[i]);
    }
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  native.Type_indexed(static_cast<int>(places.size()), lengths.data(), places.data(), element, &made);
  native.Type_commit(&made);
  return OwnType(made);
}

// An index that is in no vector of that length.
std::optional<Error> out_of_range(std::span<const int> indices, MPI_Count length, const std::string& list) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < length) continue;
    return Error{"index " + std::to_string(indices[i]) + ", number " + std::to_string(i) + " in the list of " + list +
                 ", is not in a vector of " + std::to_string(length) + " elements"};
  }
  return std::nullopt;
}

// An index that stands twice in the receive lists: one of the two values for it would overwrite the other.
std::optional<Error> repeated(std::vector<int> indices) {
  std::ranges::sort(indices);
  const auto found = std::ranges::adjacent_find(indices);
  if (found == indices.end()) return std::nullopt;
  return Error{"index " + std::to_string(*found) + " stands twice in the lists of the receive neighbours"};
}

const char* word(Direction direction) { return direction == Direction::send ? "send" : "receive"; }

}  // namespace

OwnType::~OwnType() {
  if (handle_ != MPI_DATATYPE_NULL && !forget_datatype(handle_)) native.Type_free(&handle_);
}

Result<HaloSide> side_of_lists(Direction direction, const ura_halo_side& given, MPI_Aint element_bytes, int ranks) {
  const char* const what = word(direction);
  if (element_bytes < 1 || element_bytes > INT_MAX) {
    return Error{"an element of " + std::to_string(element_bytes) + " bytes; 1 to 2147483647 are possible"};
  }
  auto side = side_of_ranks(given.neighbours, given.ranks, what, ranks);
  if (!side.ok()) return side;
  if (given.neighbours != 0 && given.counts == nullptr) {
    return Error{std::string("the counts of the ") + what + " neighbours are needed"};
  }
  const std::span counts(given.counts, side->ranks.size());
  if (const auto bad = std::ranges::find_if(counts, [](int n) { return n < 0; }); bad != counts.end()) {
    const auto i = static_cast<std::size_t>(bad - counts.begin());
    return Error{std::to_string(*bad) + " elements for " + of(what, static_cast<int>(i), side->ranks[i])};
  }
  const auto all = std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                                   [](std::size_t sum, int n) { return sum + static_cast<std::size_t>(n); });
  if (all != 0 && given.indices == nullptr) return Error{std::string("the ") + what + " indices are needed"};
  std::span<const int> left(given.indices, all);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  native.Type_contiguous(static_cast<int>(element_bytes), MPI_BYTE, &element);
  const OwnType kept(element);
  std::vector<int> received;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool nobody = side->ranks[i] == MPI_PROC_NULL;
    const auto own = left.first(static_cast<std::size_t>(counts[i]));
    left = left.subspan(own.size());
    if (auto bad = out_of_range(own, given.length, of(what, static_cast<int>(i), side->ranks[i]))) return *bad;
    if (direction == Direction::receive && !nobody) received.insert(received.end(), own.begin(), own.end());
    side->types.push_back(type_of(own, element));
    side->bytes.push_back(nobody ? 0 : own.size() * static_cast<std::uint64_t>(element_bytes));
  }
  if (auto bad = repeated(std::move(received))) return *bad;
  return side;
}

Result<HaloSide> side_of_types(Direction direction, int neighbours, const int* given, const MPI_Datatype* types,
                               int ranks) {
  const char* const what = word(direction);
  auto side = side_of_ranks(neighbours, given, what, ranks);
  if (!side.ok()) return side;
  if (neighbours != 0 && types == nullptr)
    return Error{std::string("the types of the ") + what + " neighbours are needed"};
  for (std::size_t i = 0; i < side->ranks.size(); ++i) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Count bytes = 0;
    if (types[i] == MPI_DATATYPE_NULL || native.Type_dup(types[i], &made) != MPI_SUCCESS ||
        native.Type_size_x(made, &bytes) != MPI_SUCCESS) {
      return Error{"the datatype of " + of(what, static_cast<int>(i), side->ranks[i]) + " is not one"};
    }
    native.Type_commit(&made);
    side->types.emplace_back(made);
    side->bytes.push_back(side->ranks[i] == MPI_PROC_NULL ? 0 : static_cast<std::uint64_t>(bytes));
  }
  return side;
}

}  // namespace urakata::shim
