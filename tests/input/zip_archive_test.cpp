// Zip archives: what each kind of writer leaves is read, and each lie of a directory is refused.
#include "engine/input/zip_archive.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/input/zip_writer.h"

namespace recut {
namespace {

const std::string kRepeated(5'000, 'a');

std::string fault_of_zip(std::string_view bytes) {
  const auto archive = ZipArchive::open(bytes);
  return archive ? "" : archive.diagnostics().front().message;
}

TEST_CASE("zip: stored and deflated members, with descriptors and in 64 bits") {
  for (const bool deflated : {false, true})
    for (const bool descriptors : {false, true})
      for (const bool zip64 : {false, true}) {
        ZipWriter writer({deflated, descriptors, zip64});
        writer.add("b/two", kRepeated);
        writer.add("b/one", "1");
        writer.add("b/none", "");
        writer.add("b/folder/", "");
        const std::string bytes = writer.finish("a comment");
        REQUIRE(is_zip(bytes));
        const auto archive = ZipArchive::open(bytes);
        if (!archive) FAIL(format(archive.diagnostics()));
        REQUIRE(archive->members().size() == 3);
        CHECK(archive->members()[0].name == "b/none");
        CHECK(*archive->unpack(*archive->find("b/two"), 5'000) == kRepeated);
        CHECK(*archive->unpack(*archive->find("b/one"), 5'000) == "1");
        CHECK(archive->unpack(*archive->find("b/none"), 0)->empty());
        CHECK_FALSE(archive->unpack(*archive->find("b/two"), 4'999).ok());
        CHECK(archive->find("two") == nullptr);
      }
}

TEST_CASE("zip: an archive that is cut off anywhere is refused") {
  ZipWriter writer({true, true, true});
  writer.add("a", kRepeated);
  writer.add("b", "12");
  const std::string bytes = writer.finish();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(ZipArchive::open(std::string_view(bytes).substr(0, length)).ok());
}

TEST_CASE("zip: damaged data doesn't pass for a member's") {
  for (const bool deflated : {false, true}) {
    ZipWriter writer({deflated});
    writer.add("a", kRepeated);
    std::string bytes = writer.finish();
    const auto place = static_cast<std::size_t>(ZipArchive::open(bytes)->members()[0].at);
    bytes[place + 3] = static_cast<char>(bytes[place + 3] ^ 4);
    const auto archive = ZipArchive::open(bytes);
    CHECK_FALSE(archive->unpack(archive->members()[0], 5'000).ok());
  }
}

TEST_CASE("zip: names that could leave a folder, or stand twice, are refused") {
  for (const std::string name : {"/a", "../a", "a/../b", "a\\b", "c:a", "", "./a", "a//b"}) {
    ZipWriter writer;
    writer.add(name, "1");
    INFO(name);
    CHECK(fault_of_zip(writer.finish()).find("no relative path") != std::string::npos);
  }
  ZipWriter twice;
  twice.add("a", "1");
  twice.add("a", "2");
  CHECK(fault_of_zip(twice.finish()) == "zip: member 'a': the name stands there twice");
}

TEST_CASE("zip: members may not overlap, lie outside or be encrypted") {
  ZipWriter overlapping;
  overlapping.add("a", "a", "123", 3);
  overlapping.repeat("b");
  CHECK(fault_of_zip(overlapping.finish()).find("its own header isn't") != std::string::npos);
  overlapping.repeat("a");
  CHECK_FALSE(fault_of_zip(overlapping.finish()).empty());

  ZipWriter same_name;
  same_name.add("a", "123");
  same_name.repeat("a");
  CHECK(fault_of_zip(same_name.finish()).find("overlaps") != std::string::npos);

  ZipWriter larger;
  larger.add("a", "a", "123", 1'000);
  CHECK(fault_of_zip(larger.finish()) == "zip: member 'a': its 3 bytes can't unpack to 1000");

  ZipWriter renamed;
  renamed.add("a", "b", "123", 3);
  CHECK_FALSE(fault_of_zip(renamed.finish()).empty());

  ZipWriter encrypted({false, false, false, 1});
  encrypted.add("a", "123");
  CHECK(fault_of_zip(encrypted.finish()).find("encrypted") != std::string::npos);
}

TEST_CASE("zip: no member claims more than deflate can give") {
  ZipWriter bomb({true});
  bomb.add("a", "a", "123", std::uint64_t{1} << 31);
  CHECK(fault_of_zip(bomb.finish()).find("can't unpack to 2147483648") != std::string::npos);

  ZipWriter short_of({true});
  short_of.add("a", "a", kRepeated, 4'000);
  const std::string bytes = short_of.finish();
  const auto archive = ZipArchive::open(bytes);
  REQUIRE(archive.ok());
  CHECK(archive->unpack(archive->members()[0], 5'000).diagnostics().front().message ==
        "zip: member 'a': deflate: the data doesn't come to 4000 bytes");
}

}  // namespace
}  // namespace recut
