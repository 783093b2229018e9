// Values as bytes and back.
#include "base/archive.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace {

using base::ArchiveReader;
using base::ArchiveWriter;

struct Padded {
  char letter = 0;
  int number = 0;
  bool flag = false;
  bool operator==(const Padded&) const = default;
};

const base::Error kDamaged{base::Fault::kData, "bytes", "are damaged", "write them again"};

/// A list of one, in memory that held `garbage` before.
std::string bytes_over(unsigned char garbage) {
  alignas(Padded) std::array<std::byte, sizeof(Padded)> memory;
  std::memset(memory.data(), garbage, memory.size());
  const Padded* item = new (memory.data()) Padded{'x', 7, true};
  ArchiveWriter archive;
  archive(std::span{item, 1});
  return archive.take();
}

TEST(Archive, PaddingIsNotWritten) { EXPECT_EQ(bytes_over(0), bytes_over(0xff)); }

TEST(Archive, RoundTrips) {
  const std::vector<Padded> list{{'a', -1, false}, {'b', 1 << 30, true}};
  const std::map<std::string, std::vector<double>> map{{"", {}}, {"key", {0.5, -0.0}}};
  const std::array<std::int32_t, 3> fixed{1, -2, 3};
  ArchiveWriter writer;
  writer(list, map, fixed);
  const std::string bytes = writer.take();
  std::vector<Padded> list_back;
  std::map<std::string, std::vector<double>> map_back;
  std::array<std::int32_t, 3> fixed_back{};
  ArchiveReader reader{bytes, kDamaged};
  reader(list_back, map_back, fixed_back);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(list_back, list);
  EXPECT_EQ(map_back, map);
  EXPECT_EQ(fixed_back, fixed);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(ArchiveReader(std::string_view{bytes}.substr(0, size), kDamaged)(list_back, map_back, fixed_back),
                 base::Error)
        << size;
}

TEST(Archive, AByteThatIsNoBoolIsRefused) {
  bool flag = false;
  ArchiveReader{std::string_view{"\1", 1}, kDamaged}(flag);
  EXPECT_TRUE(flag);
  EXPECT_THROW((ArchiveReader{std::string_view{"\2", 1}, kDamaged}(flag)), base::Error);
}

}  // namespace
