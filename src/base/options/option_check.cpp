// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/option_table.hpp"
#include "base/options/written.hpp"

namespace urakata {
namespace {

using written::cut;

Error bad(const Option& option, std::string_view value, const std::string& why) {
  return Error{std::string(table::kPrefix) + std::string(option.name) + "=" + std::string(value) + ": " + why};
}

Status check_algorithms(const Option& option, std::string_view value, AlgorithmCheck algorithm_check) {
  std::string_view rest = value;
  while (!rest.empty()) {
    std::string_view algorithm = cut(rest, ',');
    std::string_view operation;
    if (algorithm.find(':') != std::string_view::npos) {
      operation = cut(algorithm, ':');
      if (operation.empty()) return bad(option, value, "an operation is missing before ':'; " + valid_values(option));
    }
    if (algorithm.empty()) return bad(option, value, "a name is missing; " + valid_values(option));
    if (algorithm_check == nullptr) continue;
    if (Status status = algorithm_check(operation, algorithm); !status)
      return bad(option, value, status.error().message);
  }
  return Nothing{};
}

}  // namespace

bool is_switch(const Option& option) {
  return option.choices.data() == written::kSwitch.data() || option.choices.data() == written::kSwitchOrAuto.data();
}

std::string valid_values(const Option& option) {
  switch (option.kind) {
    case OptionKind::choice:
      return written::listed(option.choices, " or ");
    case OptionKind::integer:
      return std::to_string(option.least) + " to " + std::to_string(option.most);
    case OptionKind::size:
      return "a number of bytes, with K, M or G if wanted";
    case OptionKind::cpu_list:
      return "a list of CPU numbers such as 12-15,20";
    case OptionKind::algorithms:
      return "operation:algorithm,... or an algorithm's name";
    case OptionKind::text:
      break;
  }
  return "any text";
}

Status check_option(const Option& option, std::string_view value, AlgorithmCheck algorithm_check) {
  bool good = true;
  if (value.empty()) return Nothing{};  // the default
  const std::string given(value);
  if (table::present_value(option, given.c_str()) != given.c_str()) return Nothing{};  // a value of the last release
  switch (option.kind) {
    case OptionKind::choice:
      good = written::choice(option.choices, value).has_value() ||
             (is_switch(option) && written::switched(value).has_value());
      break;
    case OptionKind::integer:
    case OptionKind::size: {
      const std::optional<std::uint64_t> found =
          option.kind == OptionKind::size ? written::size(value) : written::number(value);
      good = found && *found >= option.least && *found <= option.most;
      break;
    }
    case OptionKind::cpu_list:
      good = written::good_cpu_list(value);
      break;
    case OptionKind::algorithms:
      return check_algorithms(option, value, algorithm_check);
    case OptionKind::text:
      break;
  }
  if (!good) return bad(option, value, "not a valid value; use " + valid_values(option));
  return Nothing{};
}

}  // namespace urakata
