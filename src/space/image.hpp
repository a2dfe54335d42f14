// SPDX-License-Identifier: BSD-3-Clause
// Reads the headers of an ELF file, as the kernel does before it maps a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace urakata::space {

struct Segment {
  std::uint64_t address = 0;  // before the program is moved to its base
  std::uint64_t offset = 0;   // in the file
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;  // the bytes beyond file_bytes are zero
  std::uint64_t alignment = 0;
  std::uint32_t flags = 0;  // PF_R, PF_W, PF_X
};

struct Image {
  std::string path;
  bool movable = false;  // position-independent (ET_DYN)
  std::uint64_t entry = 0;
  std::uint64_t headers = 0;  // address of the program headers, before moving
  std::uint16_t header_count = 0;
  std::uint16_t header_bytes = 0;
  std::uint64_t dynamic = 0;  // address of the dynamic section, before moving; 0: none
  std::vector<Segment> segments;
  std::string interpreter;  // path of its dynamic linker; empty: none
  bool executable_stack = false;
  std::string sanitizer;  // sanitizer that it is built with, such as "AddressSanitizer"; empty: none
  std::string devices;    // GPU driver or runtime that it is linked to, such as "CUDA"; empty: none
};

// Error: the file is not readable, is no ELF file, is for another machine, is cut off, or has senseless headers. The
// message is the rest of a sentence about the file.
Result<Image> read_image(const std::string& path);

}  // namespace urakata::space
