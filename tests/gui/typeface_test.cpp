// Widths of words, and the fonts that pictures carry.
#include "gui/pictures/typeface.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace recut::gui {
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value = (value << 8) | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
  return value;
}

// The tables of a font by their tags; all inside the file, each with its checksum.
std::map<std::string, std::string> tables_of(const std::string& font) {
  std::map<std::string, std::string> tables;
  REQUIRE(font.substr(0, 4) == "OTTO");
  for (std::uint32_t i = 0; i < number_at(font, 4, 2); ++i) {
    const std::size_t row = 12 + 16 * i;
    const std::uint32_t offset = number_at(font, row + 8, 4), size = number_at(font, row + 12, 4);
    CHECK(offset % 4 == 0);
    REQUIRE(offset + size <= font.size());
    tables[font.substr(row, 4)] = font.substr(offset, size);
  }
  return tables;
}

TEST_CASE("typeface: widths are the typefaces' own", "[gui][figures]") {
  CHECK(width_in_ems(Typeface::mono, "0123456789") == Catch::Approx(6));
  CHECK(width_in_ems(Typeface::mono, "µ…·") == Catch::Approx(1.8));
  CHECK(width_in_ems(Typeface::sans, "iiii") < width_in_ems(Typeface::sans, "MMM"));
  CHECK(width_in_ems(Typeface::sans, "saved") < width_in_ems(Typeface::strong, "saved"));
  CHECK(width_in_ems(Typeface::sans, "") == 0);
  // Letters that it lacks, and bytes that are none, take room, too.
  CHECK(width_in_ems(Typeface::sans, "\xe6\xbc\xa2") == Catch::Approx(1));
  CHECK(width_in_ems(Typeface::sans, "\xff") > 0);
}

TEST_CASE("typeface: letters are code points", "[gui][figures]") {
  CHECK(letters_of("aµ…\xf0\x9f\x98\x80") ==
        std::vector<char32_t>{U'a', U'µ', U'…', char32_t{0x1f600}});
  CHECK(letters_of("\xff") == std::vector<char32_t>{char32_t{0xfffd}});
}

TEST_CASE("typeface: a font has the letters that were asked for, and adds up", "[gui][figures]") {
  for (const Typeface face : {Typeface::sans, Typeface::strong, Typeface::mono}) {
    const Letters letters{U'A', U'B', U'z', U'µ', char32_t{0x6f22}, char32_t{0x1f600}};
    const std::string font = font_of(face, letters);
    CHECK(font == font_of(face, letters));
    CHECK(font.size() < 4000);
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < font.size(); at += 4) sum += number_at(font, at, 4);
    CHECK(sum == 0xb1b0afbau);
    auto tables = tables_of(font);
    CHECK(tables.size() == 9);
    constexpr std::uint32_t kGlyphs = 6;  // the missing one, a blank, and the four that it has
    CHECK(number_at(tables["maxp"], 4, 2) == kGlyphs);
    CHECK(tables["hhea"].size() == 36);
    CHECK(number_at(tables["hhea"], 34, 2) == kGlyphs);
    CHECK(tables["hmtx"].size() == 4 * kGlyphs);
    CHECK(tables["head"].size() == 54);
    CHECK(tables["OS/2"].size() == 96);
    CHECK(tables["post"].size() == 32);
    const double advance = number_at(tables["hmtx"], 4 * 2, 2);
    CHECK(advance / 1000 == Catch::Approx(width_in_ems(face, "A")).margin(0.001));
  }
}

TEST_CASE("typeface: a font without letters, and one of very many", "[gui][figures]") {
  CHECK(number_at(tables_of(font_of(Typeface::sans, {}))["maxp"], 4, 2) == 2);
  Letters many;
  for (char32_t letter = 0x20; letter < 0x3000; ++letter) many.insert(letter);
  CHECK(number_at(tables_of(font_of(Typeface::sans, many))["maxp"], 4, 2) == 380);
}

}  // namespace
}  // namespace recut::gui
