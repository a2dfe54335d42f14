// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/type_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

using layout::TypeMap;

constexpr int kLevels = 256;

bool is_predefined_combiner(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

// How many arguments of each kind a type was made with.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;
  MPI_Count types = 0;
  int combiner = 0;
};

#if defined(URAKATA_LARGE_COUNTS)
bool has_large_forms() { return native.Type_get_envelope_c != nullptr && native.Type_get_contents_c != nullptr; }
#endif

// Asks by the form with large counts if the MPI library has it: the other form refuses types made with large counts.
std::optional<Envelope> envelope_of(MPI_Datatype handle) {
  Envelope envelope;
#if defined(URAKATA_LARGE_COUNTS)
  if (has_large_forms()) {
    if (native.Type_get_envelope_c(handle, &envelope.integers, &envelope.addresses, &envelope.counts, &envelope.types,
                                   &envelope.combiner) != MPI_SUCCESS) {
      return std::nullopt;
    }
    return envelope;
  }
#endif
  int integers = 0;
  int addresses = 0;
  int types = 0;
  if (native.Type_get_envelope(handle, &integers, &addresses, &types, &envelope.combiner) != MPI_SUCCESS) {
    return std::nullopt;
  }
  envelope.integers = integers;
  envelope.addresses = addresses;
  envelope.types = types;
  return envelope;
}

// The arguments that a type was made with. Those of a `_c` constructor are large counts where the other constructors
// have integers or addresses; each list is in the order of the constructor's arguments.
class TypeArguments {
 public:
  TypeArguments() = default;
  ~TypeArguments() {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (types_[i] != MPI_DATATYPE_NULL && !is_predefined(types_[i])) native.Type_free(&types_[i]);
    }
  }
  TypeArguments(const TypeArguments&) = delete;
  TypeArguments& operator=(const TypeArguments&) = delete;

  bool read(MPI_Datatype handle);

  int combiner() const { return combiner_; }
  std::span<const MPI_Datatype> types() const { return types_; }

  // The next argument of its kind.
  int plain() { return integers_.at_next(); }  // ranks, orders, distributions: integers in both kinds of constructors
  std::int64_t count() { return large() ? std::int64_t{counts_.at_next()} : integers_.at_next(); }
  std::int64_t address() { return large() ? std::int64_t{counts_.at_next()} : std::int64_t{addresses_.at_next()}; }
  std::vector<std::int64_t> list_of_counts(std::int64_t length) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(length));
    for (std::int64_t& entry : list) entry = count();
    return list;
  }
  std::vector<std::int64_t> list_of_addresses(std::int64_t length) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(length));
    for (std::int64_t& entry : list) entry = address();
    return list;
  }
  std::vector<int> list_of_plain(int length) {
    std::vector<int> list(static_cast<std::size_t>(length));
    for (int& entry : list) entry = plain();
    return list;
  }

 private:
  template <class Number>
  struct List {
    std::vector<Number> numbers;
    std::size_t next = 0;
    // If the MPI library has given fewer numbers than it should, the rest are 0. The size then differs, and the type
    // gets no shape.
    Number at_next() { return next < numbers.size() ? numbers[next++] : Number{}; }
    void resize(MPI_Count length) { numbers.resize(static_cast<std::size_t>(length)); }
  };
  bool large() const { return !counts_.numbers.empty(); }

  int combiner_ = 0;
  List<int> integers_;
  List<MPI_Aint> addresses_;
  List<MPI_Count> counts_;
  std::vector<MPI_Datatype> types_;
};

bool TypeArguments::read(MPI_Datatype handle) {
  const auto envelope = envelope_of(handle);
  if (!envelope.has_value()) return false;
  combiner_ = envelope->combiner;
  if (is_predefined_combiner(combiner_)) return true;
  integers_.resize(envelope->integers);
  addresses_.resize(envelope->addresses);
  counts_.resize(envelope->counts);
  types_.resize(static_cast<std::size_t>(envelope->types), MPI_DATATYPE_NULL);
#if defined(URAKATA_LARGE_COUNTS)
  if (has_large_forms()) {
    return native.Type_get_contents_c(handle, envelope->integers, envelope->addresses, envelope->counts,
                                      envelope->types, integers_.numbers.data(), addresses_.numbers.data(),
                                      counts_.numbers.data(), types_.data()) == MPI_SUCCESS;
  }
#endif
  return native.Type_get_contents(handle, static_cast<int>(envelope->integers), static_cast<int>(envelope->addresses),
                                  static_cast<int>(envelope->types), integers_.numbers.data(),
                                  addresses_.numbers.data(), types_.data()) == MPI_SUCCESS;
}

struct Bounds {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
};

std::optional<Bounds> bounds_of(MPI_Datatype handle) {
  Bounds bounds;
  if (native.Type_size_x(handle, &bounds.size) != MPI_SUCCESS ||
      native.Type_get_extent_x(handle, &bounds.lb, &bounds.extent) != MPI_SUCCESS ||
      native.Type_get_true_extent_x(handle, &bounds.true_lb, &bounds.true_extent) != MPI_SUCCESS || bounds.size < 0) {
    return std::nullopt;
  }
  return bounds;
}

// The MPI library's true extent may be larger than ours: MPICH 5 counts members without bytes.
bool within(const TypeMap& map, const Bounds& bounds) {
  return map.true_lb() >= bounds.true_lb &&
         map.true_lb() + static_cast<std::int64_t>(map.true_extent()) <= bounds.true_lb + bounds.true_extent;
}

TypeMap plain_bytes(std::uint64_t size) {
  // The alignment matters for pairs only: all else has the MPI library's bounds.
  std::uint64_t alignment = 1;
  while (alignment < 16 && size % (2 * alignment) == 0) alignment *= 2;
  return TypeMap::bytes(size, alignment);
}

std::optional<TypeMap> predefined_map(MPI_Datatype handle, const Bounds& bounds) {
  if (bounds.size == 0) return TypeMap{};
  if (handle == MPI_SHORT_INT) return TypeMap::pair(plain_bytes(sizeof(short)), plain_bytes(sizeof(int)));
  if (bounds.true_lb != 0 || bounds.true_extent != bounds.size) return std::nullopt;
  return plain_bytes(static_cast<std::uint64_t>(bounds.size));
}

TypeMap::Order order_of(int order) { return order == MPI_ORDER_FORTRAN ? TypeMap::Order::fortran : TypeMap::Order::c; }

TypeMap subarray(TypeArguments& arguments, const TypeMap& old) {
  const int dimensions = arguments.plain();
  const auto sizes = arguments.list_of_counts(dimensions);
  const auto subsizes = arguments.list_of_counts(dimensions);
  const auto starts = arguments.list_of_counts(dimensions);
  return TypeMap::subarray(sizes, subsizes, starts, order_of(arguments.plain()), old);
}

TypeMap darray(TypeArguments& arguments, const TypeMap& old) {
  arguments.plain();  // the number of ranks: the product of the grid's
  const int rank = arguments.plain();
  const int dimensions = arguments.plain();
  const auto sizes = arguments.list_of_counts(dimensions);
  const auto distributions = arguments.list_of_plain(dimensions);
  const auto blocks = arguments.list_of_plain(dimensions);
  const auto processes = arguments.list_of_plain(dimensions);
  std::vector<TypeMap::DistributedDimension> grid(sizes.size());
  for (std::size_t d = 0; d < grid.size(); ++d) {
    grid[d].size = sizes[d];
    grid[d].distribution = distributions[d] == MPI_DISTRIBUTE_BLOCK    ? TypeMap::Distribution::block
                           : distributions[d] == MPI_DISTRIBUTE_CYCLIC ? TypeMap::Distribution::cyclic
                                                                       : TypeMap::Distribution::none;
    grid[d].argument = blocks[d] == MPI_DISTRIBUTE_DFLT_DARG ? 0 : blocks[d];
    grid[d].processes = std::max(processes[d], 1);
  }
  return TypeMap::darray(rank, grid, order_of(arguments.plain()), old);
}

std::optional<TypeMap> map_at(MPI_Datatype handle, int level);

std::optional<TypeMap> structure(TypeArguments& arguments, int level) {
  const std::int64_t members = arguments.count();
  const auto lengths = arguments.list_of_counts(members);
  const auto displacements = arguments.list_of_addresses(members);
  const auto types = arguments.types();
  if (types.size() != lengths.size()) return std::nullopt;
  std::vector<TypeMap> olds;
  olds.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != 0 && types[i] == types[i - 1]) {
      olds.push_back(olds.back());
      continue;
    }
    auto old = map_at(types[i], level + 1);
    if (!old.has_value()) return std::nullopt;
    olds.push_back(std::move(*old));
  }
  return TypeMap::structure(lengths, displacements, olds);
}

// All combiners but those of predefined types and of struct.
std::optional<TypeMap> derived(TypeArguments& arguments, const TypeMap& old) {
  const auto unsigned_count = [&] { return static_cast<std::uint64_t>(arguments.count()); };
  switch (arguments.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:  // the new bounds are the MPI library's anyway
      return old;
    case MPI_COMBINER_CONTIGUOUS:
      return TypeMap::contiguous(unsigned_count(), old);
    case MPI_COMBINER_VECTOR: {
      const std::uint64_t count = unsigned_count();
      const std::uint64_t length = unsigned_count();
      return TypeMap::vector(count, length, arguments.count(), old);
    }
    case MPI_COMBINER_HVECTOR: {
      const std::uint64_t count = unsigned_count();
      const std::uint64_t length = unsigned_count();
      return TypeMap::hvector(count, length, arguments.address(), old);
    }
    case MPI_COMBINER_INDEXED: {
      const std::int64_t count = arguments.count();
      const auto lengths = arguments.list_of_counts(count);
      return TypeMap::indexed(lengths, arguments.list_of_counts(count), old);
    }
    case MPI_COMBINER_HINDEXED: {
      const std::int64_t count = arguments.count();
      const auto lengths = arguments.list_of_counts(count);
      return TypeMap::hindexed(lengths, arguments.list_of_addresses(count), old);
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const std::int64_t count = arguments.count();
      const std::uint64_t length = unsigned_count();
      return TypeMap::indexed_block(length, arguments.list_of_counts(count), old);
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const std::int64_t count = arguments.count();
      const std::uint64_t length = unsigned_count();
      return TypeMap::hindexed_block(length, arguments.list_of_addresses(count), old);
    }
    case MPI_COMBINER_SUBARRAY:
      return subarray(arguments, old);
    case MPI_COMBINER_DARRAY:
      return darray(arguments, old);
    default:
      return std::nullopt;
  }
}

std::optional<TypeMap> unbounded_map(TypeArguments& arguments, int level) {
  if (arguments.combiner() == MPI_COMBINER_STRUCT) return structure(arguments, level);
  const auto types = arguments.types();
  if (types.empty()) return std::nullopt;
  const auto old = map_at(types[0], level + 1);
  if (!old.has_value()) return std::nullopt;
#if defined(URAKATA_STATUS_QUERIES)  // MPI 4.1 has this combiner too
  if (arguments.combiner() == MPI_COMBINER_VALUE_INDEX) {
    const auto index = types.size() == 2 ? map_at(types[1], level + 1) : std::nullopt;
    if (!index.has_value()) return std::nullopt;
    return TypeMap::pair(*old, *index);
  }
#endif
  return derived(arguments, *old);
}

std::optional<TypeMap> map_at(MPI_Datatype handle, int level) {
  if (level == kLevels) return std::nullopt;
  const auto bounds = bounds_of(handle);
  TypeArguments arguments;
  if (!bounds.has_value() || !arguments.read(handle)) return std::nullopt;
  const auto map =
      is_predefined_combiner(arguments.combiner()) ? predefined_map(handle, *bounds) : unbounded_map(arguments, level);
  if (!map.has_value() || map->size() != static_cast<std::uint64_t>(bounds->size)) return std::nullopt;
  if (map->size() != 0 && !within(*map, *bounds)) return std::nullopt;
  return TypeMap::resized(bounds->lb, bounds->extent, *map);
}

}  // namespace

bool is_predefined(MPI_Datatype handle) {
  const auto envelope = envelope_of(handle);
  return envelope.has_value() && is_predefined_combiner(envelope->combiner);
}

std::optional<TypeMap> type_map_of(MPI_Datatype handle) { return map_at(handle, 0); }

}  // namespace urakata::shim
