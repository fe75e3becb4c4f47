// The tar archive of a debug bundle: its bytes, and a reader that isn't ours.
#include "engine/workspace/bundle_archive.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

namespace fs = std::filesystem;

const std::vector<BundleFile> kArchived = {{"README.md", "read it\n", false},
                                           {"code/step.loop", std::string(512, 'x'), false},
                                           {"empty", "", false},
                                           {"run.sh", "#!/bin/sh\nexit 3\n", true}};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("bundle archive: members have the fields of ustar, and no time") {
  const auto archive = bundle_archive("net-debug", kArchived);
  REQUIRE(archive.ok());
  // A header each, their bytes in whole blocks, and two blocks of zeros.
  CHECK(archive->size() == 512 * (4 + 1 + 1 + 0 + 1 + 2));
  CHECK(archive->substr(0, 10) == std::string("README.md\0", 10));
  CHECK(archive->substr(100, 8) == std::string("0000644\0", 8));
  CHECK(archive->substr(124, 12) == std::string("00000000010\0", 12));
  CHECK(archive->substr(136, 12) == std::string("00000000000\0", 12));
  CHECK(archive->substr(257, 8) == std::string("ustar\0"
                                               "00",
                                               8));
  CHECK(archive->substr(345, 10) == std::string("net-debug\0", 10));
  CHECK(archive->substr(512, 8) == "read it\n");
  CHECK(*bundle_archive("net-debug", kArchived) == *archive);
}

TEST_CASE("bundle archive: tar lists and extracts it") {
  if (std::system("tar --version > /dev/null 2>&1") != 0) SKIP("no tar");
  const test::TemporaryFolder folder;
  const auto archive = bundle_archive("net-debug", kArchived);
  REQUIRE(archive.ok());
  std::ofstream(folder.path() + "/a.tar", std::ios::binary) << *archive;
  const std::string line = "cd '" + folder.path() +
                           "' && TZ=UTC LC_ALL=C tar -tvf a.tar > list.txt 2> faults.txt && "
                           "tar -xf a.tar 2>> faults.txt";
  REQUIRE(std::system(line.c_str()) == 0);
  CHECK(contents(folder.path() + "/faults.txt") == "");
  const std::string list = contents(folder.path() + "/list.txt");
  INFO(list);
  CHECK(list.find("-rwxr-xr-x") != std::string::npos);
  CHECK(list.find("-rw-r--r--") == 0);
  CHECK(list.find("1970-01-01 00:00 net-debug/run.sh") != std::string::npos);
  for (const BundleFile& file : kArchived) {
    INFO(file.path);
    CHECK(contents(folder.path() + "/net-debug/" + file.path) == file.bytes);
  }
  const int status = std::system(("'" + folder.path() + "/net-debug/run.sh'").c_str());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 3));
}

TEST_CASE("bundle archive: paths that don't fit are refused by name") {
  const auto refusal = [](const std::string& folder, const BundleFile& file) {
    const auto archive = bundle_archive(folder, std::vector{file});
    REQUIRE_FALSE(archive.ok());
    return archive.diagnostics().front().message;
  };
  CHECK(refusal(std::string(156, 'n'), kArchived[0]).find("has 156 bytes, expected at most 155") !=
        std::string::npos);
  CHECK(refusal("net", {std::string(101, 'p'), "", false}).find("expected at most 100") !=
        std::string::npos);
  CHECK(bundle_archive(std::string(155, 'n'), kArchived).ok());
}

}  // namespace
}  // namespace recut
