#include "engine/input/bytes.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "tests/paths.h"

namespace recut {
namespace {

// "hello, hello, hello\n" packed by gzip -n.
const std::string kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\xb8\x00\xe7"
    "\x42\x6e\x52\x14\x00\x00\x00",
    30);

std::string fault(const Result<std::string>& result) {
  return result.ok() ? "" : format(result.diagnostics());
}

TEST_CASE("gzip unpacks, several members as one") {
  CHECK(*gunzip(kPacked) == "hello, hello, hello\n");
  CHECK(*gunzip(kPacked + kPacked) == "hello, hello, hello\nhello, hello, hello\n");
  CHECK(gunzip(kPacked, 20).ok());
}

TEST_CASE("gzip that is damaged, cut off or a bomb is refused") {
  for (std::size_t length = 2; length < kPacked.size(); ++length)
    CHECK(fault(gunzip(kPacked.substr(0, length))).find("gzip: cut off after") !=
          std::string::npos);
  std::string wrong = kPacked;
  wrong[25] = 'x';
  CHECK(fault(gunzip(wrong)) == "error: gzip: incorrect data check\n");
  CHECK(fault(gunzip(kPacked + "trailing")) == "error: gzip: incorrect header check\n");
  CHECK(fault(gunzip(kPacked, 19)) ==
        "error: gzip: unpacks to more than the 19 B that Recut reads\n");
  CHECK_FALSE(gunzip("").ok());
  CHECK(read_graph_bytes(kPacked.substr(0, 20), "a.json.gz").diagnostics().front().file ==
        "a.json.gz");
}

TEST_CASE("files that can't be read say why") {
  CHECK(fault(read_file("/no/such/file")) ==
        "/no/such/file: error: can't be read: No such file or directory\n");
  CHECK(fault(read_file(RECUT_SOURCE_DIR)).find("is a folder, expected a file") !=
        std::string::npos);
  CHECK(fault(read_file(RECUT_SOURCE_DIR "/README.md", 3)).find("larger than the 3 B") !=
        std::string::npos);
  CHECK(read_file(RECUT_SOURCE_DIR "/README.md").ok());
}

TEST_CASE("a graph file is told by its first bytes") {
  const auto fault_of = [](std::string_view bytes) {
    const auto file = read_graph_bytes(bytes, "f");
    return file ? "" : format(file.diagnostics());
  };
  CHECK(fault_of("") == "f: error: the file is empty\n");
  CHECK(fault_of(" \n") == "f: error: the file is empty\n");
  CHECK(fault_of("PK\x03\x04").find("zip: its directory is missing") != std::string::npos);
  CHECK(fault_of(" {").find("JSON") != std::string::npos);
  CHECK(fault_of("graph").find("f:1:") == 0);
  CHECK(fault_of(kPacked).find("no graph file") != std::string::npos);
  const auto text = read_graph_bytes("graph \"g\" {\n  %x = input f32[2]\n  results %x\n}\n", "f");
  REQUIRE(text.ok());
  CHECK(text->model == "g");
}

}  // namespace
}  // namespace recut
