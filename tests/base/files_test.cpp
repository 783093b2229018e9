#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace base {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{testing::TempDir()} / ("files_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator{folder_}) result.push_back(entry.path().filename());
    return result;
  }

  fs::path folder_;
};

std::string error_of(Fault fault, auto call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "no error";
}

TEST_F(Files, WrittenFilesReadBack) {
  const std::string content{"a\0b\n\xff", 5};
  write_file(folder_ / "x", content);
  EXPECT_EQ(read_file(folder_ / "x"), content);
  write_file(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
  EXPECT_THAT(names(), ElementsAre("x"));
}

TEST_F(Files, FilesWithoutASizeAreReadToTheEnd) {
  const std::string content((std::size_t{3} << 20) + 1, 'x');
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::jthread writer{[&] { std::ofstream{folder_ / "pipe", std::ios::binary} << content; }};
  EXPECT_EQ(read_file(folder_ / "pipe"), content);
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("VmPeak"));  // its size is 0
}

TEST_F(Files, APipeThatNothingWritesToIsNoFile) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(Fault::kData, [&] { read_file(folder_ / "pipe"); }),
              HasSubstr("pipe: is a pipe that no process writes to"));
  std::jthread writer{[&] { std::ofstream{folder_ / "pipe"}; }};  // one that ends at once
  EXPECT_EQ(read_file(folder_ / "pipe"), "");
}

TEST_F(Files, ReadingAMissingFileNamesThePath) {
  EXPECT_THAT(error_of(Fault::kData, [&] { read_file(folder_ / "none"); }), HasSubstr("none: No such file"));
  EXPECT_THAT(error_of(Fault::kData, [&] { read_file(folder_); }), HasSubstr("is a folder"));
  EXPECT_THAT(error_of(Fault::kData, [&] { read_file("/dev/zero"); }), HasSubstr("has not ended after 512 MiB"));
}

TEST_F(Files, ANewFileHasTheUsualPermissions) {
  umask(022);
  write_file(folder_ / "x", "1");
  EXPECT_EQ(fs::status(folder_ / "x").permissions(), fs::perms{0644});
}

TEST_F(Files, WithoutCommitTheOldFileStaysAndNothingElse) {
  write_file(folder_ / "x", "old");
  {
    AtomicFile file{folder_ / "x"};
    file.write("new");
  }
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_THAT(names(), ElementsAre("x"));
}

TEST_F(Files, AWriteThatFailsLeavesNothingHalfWritten) {
  write_file(folder_ / "x", "old");
  std::signal(SIGXFSZ, SIG_IGN);  // then a file that grows too large gives EFBIG, as a full disk gives ENOSPC
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      error_of(Fault::kEnvironment, [&] { write_file(folder_ / "x", std::string(100'000, 'n')); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(message, HasSubstr("cannot be written: File too large"));
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_THAT(names(), ElementsAre("x"));
}

TEST_F(Files, WritingToAFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string message = error_of(Fault::kEnvironment, [] { write_file("/dev/full/x", "1"); });
  EXPECT_THAT(message, HasSubstr("cannot be created"));
}

TEST_F(Files, AnOutputFolderIsCreatedWithItsParents) {
  make_output_folder(folder_ / "a" / "b", false);
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  EXPECT_NO_THROW(make_output_folder(folder_ / "a" / "b", false));  // empty: still fine
}

TEST_F(Files, AnOutputFolderWithAnythingInItIsRefusedUnlessOverwriting) {
  write_file(folder_ / "result.json", "{}");
  EXPECT_THAT(error_of(Fault::kUsage, [&] { make_output_folder(folder_, false); }),
              HasSubstr("choose another `output_dir` or add `overwrite_output_dir`"));
  EXPECT_NO_THROW(make_output_folder(folder_, true));
  EXPECT_EQ(read_file(folder_ / "result.json"), "{}");
  EXPECT_THAT(error_of(Fault::kUsage, [&] { make_output_folder(folder_ / "result.json", true); }),
              HasSubstr("exists and is not a folder"));
  EXPECT_THAT(error_of(Fault::kEnvironment, [&] { make_output_folder(folder_ / "result.json" / "x", false); }),
              HasSubstr("cannot be created"));
}

TEST_F(Files, AFolderThatNothingWasPutIntoGoesWithTheParentsThatWereMade) {
  for (const char* name : {"a/b", "a/b/"}) {
    const FolderIfUsed tidy{folder_ / name};
    make_output_folder(folder_ / name, false);
  }
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  {
    const FolderIfUsed tidy{folder_ / "a" / "b"};
    make_output_folder(folder_ / "a" / "b", false);
    write_file(folder_ / "a" / "b" / "result.json", "{}");
  }
  EXPECT_TRUE(fs::exists(folder_ / "a" / "b" / "result.json"));
  fs::create_directory(folder_ / "mine");
  { const FolderIfUsed tidy{folder_ / "mine"}; }
  EXPECT_TRUE(fs::exists(folder_ / "mine")) << "it was there before";
}

TEST_F(Files, ANewFolderIsPrivate) {
  const NewFolder first{folder_ / "runs" / "bert"}, second{folder_ / "runs" / "bert"}, third{folder_ / "runs" / "bert"};
  EXPECT_EQ(first.path(), folder_ / "runs" / "bert");
  EXPECT_EQ(second.path(), folder_ / "runs" / "bert-2");
  EXPECT_EQ(third.path(), folder_ / "runs" / "bert-3");
  EXPECT_TRUE(fs::is_directory(third.path()));
}

TEST_F(Files, ANewFolderGoesWithItsParentsUnlessSomethingIsInIt) {
  { const NewFolder empty{folder_ / "runs" / "bert"}; }
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
  {
    const NewFolder used{folder_ / "runs" / "bert"};
    write_file(used.path() / "result.json", "{}");
    const NewFolder empty{folder_ / "runs" / "bert"};
  }
  EXPECT_TRUE(fs::exists(folder_ / "runs" / "bert" / "result.json"));
  EXPECT_FALSE(fs::exists(folder_ / "runs" / "bert-2"));
}

TEST_F(Files, ANewFolderWhereNoneCanBeIsAnError) {
  write_file(folder_ / "file", "");
  EXPECT_THAT(error_of(Fault::kEnvironment, [&] { NewFolder{folder_ / "file" / "x"}; }),
              HasSubstr("cannot be created"));
}

TEST_F(Files, AFolderIsLockedAgainstOthersWhileItIsInUse) {
  {
    const FolderLock lock{folder_};
    EXPECT_THAT(error_of(Fault::kUsage, [&] { FolderLock{folder_}; }), HasSubstr("is in use by another run"));
  }
  EXPECT_NO_THROW(FolderLock{folder_});
  EXPECT_THAT(error_of(Fault::kEnvironment, [&] { FolderLock{folder_ / "none"}; }), HasSubstr("cannot be opened"));
}

TEST_F(Files, AFolderIsReplacedAsAWhole) {
  for (const std::string content : {"1", "2"}) {
    ReplacedFolder out{folder_ / "x"};
    write_file(out.path() / "a", content);
    EXPECT_EQ(fs::exists(folder_ / "x"), content == "2");
    out.commit();
    EXPECT_EQ(read_file(folder_ / "x" / "a"), content);
    EXPECT_THAT(names(), ElementsAre("x"));
  }
  { const ReplacedFolder given_up{folder_ / "x"}; }
  EXPECT_EQ(read_file(folder_ / "x" / "a"), "2");
}

TEST_F(Files, RemnantsOfAKilledWriterGoWithTheNextOne) {
  for (const char* name : {"x.1-0.tmp", "x.99-7.tmp"}) std::ofstream{folder_ / name} << "half";
  std::ofstream{folder_ / "xy.1-0.tmp"} << "of another file";
  AtomicFile living{folder_ / "x"};
  write_file(folder_ / "x", "1");
  living.write("2");
  living.commit();  // it is at work: its file was left alone
  EXPECT_EQ(read_file(folder_ / "x"), "2");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("x", "xy.1-0.tmp"));
}

TEST_F(Files, APlaceInAFileIsWrittenLater) {
  AtomicFile file{folder_ / "x"};
  file.write("0000 text");
  file.write_at(1, "12");
  file.commit();
  EXPECT_EQ(read_file(folder_ / "x"), "0120 text");
}

TEST_F(Files, AFolderThatMayNotBeWrittenToIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error_of(Fault::kEnvironment, [&] { make_output_folder(folder_, false); }),
              HasSubstr("cannot be written"));
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(Files, DataIsFoundInTheSourceTreeAndInTrnsimHome) {
  EXPECT_TRUE(fs::exists(data_path("LICENSE")));
  write_file(folder_ / "only_here.toml", "");
  setenv("TRNSIM_HOME", folder_.c_str(), 1);
  EXPECT_EQ(data_path("only_here.toml"), folder_ / "only_here.toml");
  fs::create_directories(folder_ / "hw/params");
  write_file(folder_ / "hw/params/own.toml", "");
  write_file(folder_ / "hw/params/trn1.2xlarge.toml", "");
  const std::vector<fs::path> machines = data_files("hw/params", ".toml");
  EXPECT_EQ(std::ranges::count(machines, folder_ / "hw/params/own.toml"), 1);
  EXPECT_EQ(std::ranges::count(machines, folder_ / "hw/params/trn1.2xlarge.toml"), 1);  // the first place of a name
  EXPECT_EQ(std::ranges::count(machines, "trn1.2xlarge.toml", [](const fs::path& p) { return p.filename(); }), 1);
  EXPECT_EQ(std::ranges::count(machines, "trn1.32xlarge.toml", [](const fs::path& p) { return p.filename(); }), 1);
  unsetenv("TRNSIM_HOME");
  const std::string message = error_of(Fault::kEnvironment, [] { data_path("only_here.toml"); });
  EXPECT_THAT(message, HasSubstr(TRNSIM_SOURCE_DIR));
  EXPECT_THAT(message, HasSubstr("set TRNSIM_HOME"));
}

}  // namespace
}  // namespace base
