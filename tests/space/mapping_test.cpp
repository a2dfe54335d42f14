// SPDX-License-Identifier: BSD-3-Clause
// This very program mapped a second time: its code is equal byte for byte, its zeroed data is zero again.
#include "space/mapping.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace urakata::space {
namespace {

int zeroed[5000];

TEST(MapImage, ASecondCopyOfThisProgram) {
  const Result<Image> image = read_image("/proc/self/exe");
  ASSERT_TRUE(image) << image.error().message;
  if (!image->movable) GTEST_SKIP() << "the tests are not built position-independent";
  zeroed[4000] = 9;
  const Result<MappedImage> mapped = map_image(*image);
  ASSERT_TRUE(mapped) << mapped.error().message;
  bool code = false;
  for (const Segment& one : image->segments) {
    const auto* const place = reinterpret_cast<const std::byte*>(mapped->base + one.address);
    EXPECT_EQ((mapped->base + one.address) % one.alignment, one.address % one.alignment);
    if ((one.flags & PF_X) != 0) {
      std::string in_file(one.file_bytes, '\0');
      FILE* const file = std::fopen("/proc/self/exe", "rb");
      std::fseek(file, static_cast<long>(one.offset), SEEK_SET);
      ASSERT_EQ(std::fread(in_file.data(), 1, in_file.size(), file), in_file.size());
      std::fclose(file);
      EXPECT_EQ(std::memcmp(place, in_file.data(), in_file.size()), 0);
      code = true;
    }
    for (std::uint64_t at = one.file_bytes; at < one.memory_bytes; ++at) {
      ASSERT_EQ(place[at], std::byte{0}) << "behind the file's part, at " << at;
    }
  }
  EXPECT_TRUE(code);
}

TEST(MapImage, AProgramOfFixedAddressesIsRefused) {
  Image image;
  image.path = "fixed";
  EXPECT_FALSE(map_image(image));
}

TEST(WithOrigin, BothForms) {
  EXPECT_EQ(with_origin("$ORIGIN/../lib:${ORIGIN}:/x$ORIGIN", "/opt/a"), "/opt/a/../lib:/opt/a:/x/opt/a");
  EXPECT_EQ(with_origin("/lib:$LIB", "/opt/a"), "/lib:$LIB");
}

}  // namespace
}  // namespace urakata::space
