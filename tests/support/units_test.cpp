#include "engine/support/units.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/support/table.h"
#include "engine/support/utf8.h"

namespace recut {
namespace {

TEST_CASE("parse_bytes: units, fractions, exactness", "[support]") {
  CHECK(parse_bytes("0").value() == 0);
  CHECK(parse_bytes("1536").value() == 1536);
  CHECK(parse_bytes("1.5KiB").value() == 1536);
  CHECK(parse_bytes("3 GiB").value() == 3ll << 30);
  CHECK(parse_bytes("3gb").value() == 3000000000);
  CHECK(parse_bytes("900000000000000001").value() == 900000000000000001);
}

TEST_CASE("parse_bytes: nonsense is refused in words", "[support]") {
  for (const char* text :
       {"", "-1", "nan", "5XB", "1.2.3", ".", "inf", "1e3", "99999999TiB", "0x10"}) {
    INFO(text);
    REQUIRE_FALSE(parse_bytes(text).ok());
    CHECK(parse_bytes(text).diagnostics().front().message.find("is not a number of bytes") !=
          std::string::npos);
  }
}

TEST_CASE("format: bytes, times, counts", "[support]") {
  CHECK(format_bytes(48) == "48 B");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(1023 * 1024 + 800) == "1.00 MiB");
  CHECK(format_bytes(9139389235) == "8.51 GiB");
  CHECK(format_micros(958) == "958 µs");
  CHECK(format_micros(1820) == "1.82 ms");
  CHECK(format_micros(17820) == "17.8 ms");
  CHECK(format_micros(1.2e6) == "1.20 s");
  CHECK(format_count(0) == "0");
  CHECK(format_count(9700) == "9,700");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_count(-123) == "-123");
}

TEST_CASE("utf8: width, shortening, repair", "[support]") {
  CHECK(display_width("µs·") == 3);
  CHECK(shorten_front("transformer.h.0", 5) == "….h.0");
  CHECK(shorten_back("höhe", 3) == "hö…");
  CHECK(shorten_back("abc", 3) == "abc");
  CHECK(valid_utf8("a\xff"
                   "b\xc3") ==
        "a\xef\xbf\xbd"
        "b\xef\xbf\xbd");
  CHECK(valid_utf8("\xe4\xbd\xa0 \xf0\x9f\x8e\x89") == "\xe4\xbd\xa0 \xf0\x9f\x8e\x89");
  CHECK(valid_utf8("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
}

TEST_CASE("table: columns as wide as their widest cell", "[support]") {
  Table table;
  table.column("name");
  table.column("bytes", Table::Align::right);
  table.row({"a", "12"});
  table.row({"long name", "3 µs"});
  CHECK(table.format(1) == " name       bytes\n a             12\n long name   3 µs\n");
}

}  // namespace
}  // namespace recut
