#include "base/hash.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.h"

namespace base {
namespace {

TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ull);  // XXH3_64bits of nothing, xxHash's specification
  EXPECT_NE(hash64("a"), hash64("b"));
  EXPECT_NE(hash64("a", 0), hash64("a", 1));
  EXPECT_EQ(hash_text(0xabc), "0000000000000abc");
}

TEST(Hash, PiecesHashAsTheWhole) {
  const std::string text(1000, 'x');
  Hasher hasher;
  hasher.add(std::as_bytes(std::span{text}).first(300));
  hasher.add(std::as_bytes(std::span{text}).subspan(300));
  EXPECT_EQ(hasher.digest(), hash64(text));
}

TEST(Hash, KeepsTextsApart) {
  Hasher one, other;
  one.add_text("ab");
  one.add_text("c");
  other.add_text("a");
  other.add_text("bc");
  EXPECT_NE(one.digest(), other.digest());
}

TEST(Hash, TheRunningCodeHashesAsTheProgramsFile) {
  EXPECT_EQ(hash_of_own_code(), hash64(read_file(std::filesystem::read_symlink("/proc/self/exe"))));
}

}  // namespace
}  // namespace base
