// SPDX-License-Identifier: BSD-3-Clause
#include "space/task.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "space/address_ranges.hpp"
#include "space/image.hpp"
#include "space/mapping.hpp"
#include "space/spawn.hpp"
#include "space/start_stack.hpp"

namespace urakata::space {
namespace {

constexpr std::size_t kGuard = std::size_t{64} << 10U;
constexpr std::size_t kSmallestStack = std::size_t{1} << 20U;
constexpr std::size_t kLargestStack = std::size_t{1} << 30U;  // if the limit is higher or there is none

Result<Mapping> make_stack(const Attributes& attributes, bool executable, const Membership& task) {
  const rlim_t limit = attributes.limits[RLIMIT_STACK].rlim_cur;
  const std::size_t wanted = std::clamp<std::size_t>(limit, kSmallestStack, kLargestStack) & ~(kGuard - 1);
  const int rights = PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0);
  const std::uint64_t place = claim(task, wanted + kGuard);
  void* const start =
      mmap(reinterpret_cast<void*>(place), wanted + kGuard, rights,  // NOLINT(performance-no-int-to-ptr)
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (start == MAP_FAILED) {
    return Error{"no room for a stack of " + std::to_string(wanted >> 20U) + " MiB (" + std::strerror(errno) + ")"};
  }
  Mapping stack(start, wanted + kGuard);
  mprotect(start, kGuard, PROT_NONE);
  madvise(start, wanted + kGuard, MADV_NOHUGEPAGE);  // a huge page at the top of each stack would be mostly empty
  return stack;
}

std::vector<Auxiliary> auxiliary_for(const Image& program, const MappedImage& mapped, std::uint64_t linker_base) {
  std::vector<Auxiliary> all = own_auxiliary();
  const auto set = [&all](std::uint64_t kind, std::uint64_t value) {
    for (Auxiliary& one : all) {
      if (one.kind == kind) {
        one.value = value;
        return;
      }
    }
    all.push_back({kind, value});
  };
  set(AT_PHDR, mapped.base + program.headers);
  set(AT_PHENT, program.header_bytes);
  set(AT_PHNUM, program.header_count);
  set(AT_BASE, linker_base);
  set(AT_ENTRY, mapped.base + program.entry);
  return all;
}

std::vector<std::string> environment_for(const Command& command, const Registry& registry) {
  const std::string variable = std::string(kSpaceVariable) + "=";
  std::vector<std::string> all;
  for (const std::string& one : command.environment) {
    if (!one.starts_with(variable)) all.push_back(one);
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%llx:%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(&registry)),
                static_cast<unsigned long long>(registry.identity));
  all.push_back(variable + text.data());
  return all;
}

}  // namespace

Result<Task> start_task(const Handover& handover, const Membership& task) {
  const Command& command = handover.command;
  const Result<Image> program = read_image(command.file);
  if (!program) return Error{command.file + " " + program.error().message};
  const Result<Image> linker = read_image(program->interpreter);
  if (!linker) return Error{program->interpreter + " " + linker.error().message};
  Result<MappedImage> mapped = map_image(*program);
  if (!mapped) return mapped.error();
  Result<MappedImage> mapped_linker = map_image(*linker);
  if (!mapped_linker) return mapped_linker.error();
  settle_origin(*program, *mapped,
                std::string_view(command.file).substr(0, std::max<std::size_t>(command.file.rfind('/'), 1)));

  Result<Mapping> stack = make_stack(handover.attributes, program->executable_stack, task);
  if (!stack) return stack.error();
  const std::vector<Auxiliary> auxiliary = auxiliary_for(*program, *mapped, mapped_linker->base);
  const std::vector<std::string> environment = environment_for(command, *task.registry);
  StackContents contents{command.arguments, environment, command.shown, {}, auxiliary};
  if (getrandom(contents.random.data(), contents.random.size(), 0) != static_cast<ssize_t>(contents.random.size())) {
    return Error{"the kernel gives no random bytes"};
  }
  const Result<std::byte*> pointer = write_stack({stack->start() + kGuard, stack->bytes() - kGuard}, contents);
  if (!pointer) return pointer.error();

  std::vector<DescriptorMove> moves;
  for (const PassedDescriptor& one : handover.descriptors) moves.push_back({one.here.number(), one.number});
  SpawnRequest request;
  request.stack = *pointer;
  request.entry = mapped_linker->base + linker->entry;
  request.descriptors = moves;
  request.directory = handover.directory.number();
  request.highest_descriptor = highest_descriptor();
  request.attributes = &handover.attributes;
  request.record = &task.registry->tasks[task.slot];
  const std::string_view name = std::string_view(command.shown).substr(command.shown.rfind('/') + 1);
  std::copy_n(name.begin(), std::min(name.size(), request.name.size() - 1), request.name.begin());
  const Result<pid_t> pid = spawn(request);
  if (!pid) return pid.error();
  mapped->memory.keep();
  mapped_linker->memory.keep();
  stack->keep();
  const std::uint64_t dynamic = program->dynamic == 0 ? 0 : mapped->base + program->dynamic;
  return Task{*pid, {command.file, mapped->base, dynamic}};
}

}  // namespace urakata::space
