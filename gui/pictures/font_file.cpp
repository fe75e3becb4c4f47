// Writes the subset font of a picture: OpenType with CFF outlines (Adobe technical notes 5176 and
// 5177). Tables are written by rising tag, with checksums; offsets in the top DICT have a fixed
// size, so that they are known before the parts that they point at. There are no hints, kerning or
// subroutines: a picture's font has few glyphs, and browsers need none of these. The file has no
// time of day, so that equal pictures have equal bytes.
#include "gui/pictures/font_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/support/check.h"

namespace recut::gui {
namespace {

// Big-endian numbers one after the other, as fonts have them.
class FontBytes {
 public:
  FontBytes& u8(unsigned value) {
    bytes_ += static_cast<char>(value & 0xff);
    return *this;
  }
  FontBytes& u16(int value) {
    const auto bits = static_cast<unsigned>(value);
    return u8(bits >> 8).u8(bits);
  }
  FontBytes& u32(std::uint32_t value) {
    return u16(static_cast<int>(value >> 16)).u16(static_cast<int>(value & 0xffff));
  }
  FontBytes& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  FontBytes& text(std::string_view more) {
    bytes_ += more;
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

struct FontBounds {
  int left = 0, bottom = 0, right = 0, top = 0;
  void take(int x, int y) {
    left = std::min(left, x);
    right = std::max(right, x);
    bottom = std::min(bottom, y);
    top = std::max(top, y);
  }
};

FontBounds bounds_of(const std::vector<FontGlyph>& glyphs) {
  FontBounds bounds;
  for (const FontGlyph& glyph : glyphs)
    for (const GlyphStroke& stroke : glyph.strokes) {
      bounds.take(stroke.x, stroke.y);
      if (stroke.kind != GlyphStroke::Kind::curve) continue;
      bounds.take(stroke.x1, stroke.y1);
      bounds.take(stroke.x2, stroke.y2);
    }
  return bounds;
}

int widest_of(const std::vector<FontGlyph>& glyphs) {
  int widest = 0;
  for (const FontGlyph& glyph : glyphs) widest = std::max(widest, glyph.advance);
  return widest;
}

// Numbers of Type 2 charstrings (Adobe technical note 5177, section 3.2).
void charstring_number(FontBytes& out, int value) {
  const int size = std::abs(value);
  if (size <= 107) {
    out.u8(static_cast<unsigned>(value + 139));
  } else if (size <= 1131) {
    const int rest = size - 108;
    out.u8(static_cast<unsigned>((value > 0 ? 247 : 251) + rest / 256))
        .u8(static_cast<unsigned>(rest % 256));
  } else {
    out.u8(28).u16(value);
  }
}

// Each stroke is one operator; coordinates are relative to where the pen is.
std::string charstring(const FontGlyph& glyph) {
  constexpr unsigned kMoveTo = 21, kLineTo = 5, kCurveTo = 8, kEnd = 14;
  FontBytes out;
  charstring_number(out, glyph.advance);
  int x = 0, y = 0;
  const auto to = [&](int next_x, int next_y) {
    charstring_number(out, next_x - std::exchange(x, next_x));
    charstring_number(out, next_y - std::exchange(y, next_y));
  };
  for (const GlyphStroke& stroke : glyph.strokes) {
    const bool curve = stroke.kind == GlyphStroke::Kind::curve;
    if (curve) {
      to(stroke.x1, stroke.y1);
      to(stroke.x2, stroke.y2);
    }
    to(stroke.x, stroke.y);
    out.u8(curve ? kCurveTo : stroke.kind == GlyphStroke::Kind::move ? kMoveTo : kLineTo);
  }
  out.u8(kEnd);
  return std::move(out).take();
}

// An INDEX of CFF: a count, offsets of four bytes, the items.
std::string cff_index(const std::vector<std::string>& items) {
  FontBytes out;
  out.u16(static_cast<int>(items.size()));
  if (items.empty()) return std::move(out).take();
  out.u8(4);
  std::uint32_t offset = 1;
  out.u32(offset);
  for (const std::string& item : items) out.u32(offset += static_cast<std::uint32_t>(item.size()));
  for (const std::string& item : items) out.text(item);
  return std::move(out).take();
}

// A number of a DICT, always in five bytes, so that the size of an offset doesn't move its target.
void dict_number(FontBytes& out, std::size_t value) {
  out.u8(29).u32(static_cast<std::uint32_t>(value));
}

// Glyphs are named by CFF's standard strings from 1 on; the names are never read.
std::string cff_table(const std::vector<FontGlyph>& glyphs) {
  constexpr unsigned kCharset = 15, kCharStrings = 17, kPrivate = 18;
  std::vector<std::string> strokes;
  for (const FontGlyph& glyph : glyphs) strokes.push_back(charstring(glyph));
  const std::string charstrings = cff_index(strokes);
  const std::string head = std::string("\x01\x00\x04\x04", 4) + cff_index({"Recut"});
  const std::string rest = cff_index({}) + cff_index({});  // no strings, no subroutines
  FontBytes charset;
  charset.u8(2).u16(1).u16(static_cast<int>(glyphs.size()) - 2);
  FontBytes own;  // the widths that charstrings give are differences to these: none
  own.u8(139).u8(20).u8(139).u8(21);
  constexpr std::size_t kTop = 11 + 4 * 5 + 3;  // bytes of the INDEX of the top DICT
  const std::size_t at_charset = head.size() + kTop + rest.size();
  const std::size_t at_private = at_charset + charset.size();
  FontBytes top;
  dict_number(top, at_charset);
  top.u8(kCharset);
  dict_number(top, at_private + own.size());
  top.u8(kCharStrings);
  dict_number(top, own.size());
  dict_number(top, at_private);
  top.u8(kPrivate);
  const std::string index = cff_index({std::move(top).take()});
  RECUT_CHECK(index.size() == kTop, "the top DICT has the size that offsets were counted with");
  return head + index + rest + std::move(charset).take() + std::move(own).take() + charstrings;
}

// Letters that follow each other are one segment, for their glyphs do so, too.
std::string cmap_table(const std::vector<FontGlyph>& glyphs) {
  struct Segment {
    int first, last, delta;
  };
  std::vector<Segment> segments;
  for (std::size_t i = 1; i < glyphs.size(); ++i) {
    const int letter = static_cast<int>(glyphs[i].letter);
    if (!segments.empty() && segments.back().last + 1 == letter)
      ++segments.back().last;
    else
      segments.push_back({letter, letter, static_cast<int>(i) - letter});
  }
  segments.push_back({0xffff, 0xffff, 1});
  const int count = static_cast<int>(segments.size());
  int power = 1, log = 0;
  while (power * 2 <= count) power *= 2, ++log;
  FontBytes out;
  out.u16(0).u16(1).u16(3).u16(1).u32(12);
  out.u16(4).u16(16 + 8 * count).u16(0);
  out.u16(2 * count).u16(2 * power).u16(log).u16(2 * (count - power));
  for (const Segment& segment : segments) out.u16(segment.last);
  out.u16(0);
  for (const Segment& segment : segments) out.u16(segment.first);
  for (const Segment& segment : segments) out.u16(segment.delta);
  out.zeros(2 * segments.size());
  return std::move(out).take();
}

// The table has no time of day, so that the same picture has the same bytes.
std::string head_table(const FontShape& shape, const FontBounds& b) {
  FontBytes out;
  out.u32(0x10000).u32(0x10000).u32(0).u32(0x5f0f3cf5).u16(3).u16(kFontEm).zeros(16);
  out.u16(b.left).u16(b.bottom).u16(b.right).u16(b.top);
  out.u16(shape.weight >= 600 ? 1 : 0).u16(6).u16(2).u16(0).u16(0);
  return std::move(out).take();
}

std::string hhea_table(const FontShape& shape, const FontBounds& b, int widest, std::size_t count) {
  FontBytes out;
  out.u32(0x10000).u16(shape.ascender).u16(shape.descender).u16(0).u16(widest);
  out.u16(b.left).u16(0).u16(b.right).u16(1).zeros(14).u16(static_cast<int>(count));
  return std::move(out).take();
}

std::string hmtx_table(const std::vector<FontGlyph>& glyphs) {
  FontBytes out;
  for (const FontGlyph& glyph : glyphs) {
    const FontBounds bounds = bounds_of({glyph});
    out.u16(glyph.advance).u16(bounds.left);
  }
  return std::move(out).take();
}

std::string name_table(const FontShape& shape) {
  const std::string style = shape.weight >= 600 ? "SemiBold" : "Regular";
  const std::array<std::pair<int, std::string>, 4> names = {
      {{1, shape.family}, {2, style}, {4, shape.family + " " + style}, {6, "Recut-" + style}}};
  FontBytes out, texts;
  out.u16(0).u16(static_cast<int>(names.size())).u16(6 + 12 * static_cast<int>(names.size()));
  for (const auto& [id, name] : names) {
    out.u16(3).u16(1).u16(0x409).u16(id).u16(2 * static_cast<int>(name.size()));
    out.u16(static_cast<int>(texts.size()));
    for (const char c : name) texts.u16(static_cast<unsigned char>(c));
  }
  return std::move(out.text(std::move(texts).take())).take();
}

std::string os2_table(const FontShape& shape, const std::vector<FontGlyph>& glyphs) {
  const int first = glyphs.size() > 1 ? static_cast<int>(glyphs[1].letter) : 0;
  FontBytes out;
  out.u16(3).u16(kFontEm / 2).u16(shape.weight).u16(5).u16(0);
  out.zeros(16).u16(50).u16(300).u16(0).zeros(10).zeros(16).text("RCUT");
  out.u16(shape.weight >= 600 ? 0x20 : 0x40).u16(first).u16(static_cast<int>(glyphs.back().letter));
  out.u16(shape.ascender).u16(shape.descender).u16(0).u16(shape.ascender).u16(-shape.descender);
  out.zeros(8).u16(546).u16(727).u16(0).u16(32).u16(1);
  return std::move(out).take();
}

std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (24 - 8 * (i % 4));
  return sum;
}

}  // namespace

std::string font_file(const FontShape& shape, const std::vector<FontGlyph>& glyphs) {
  RECUT_CHECK(!glyphs.empty() && glyphs.size() <= kMaxGlyphs, "a font has a few glyphs");
  const FontBounds bounds = bounds_of(glyphs);
  FontBytes maxp, post;
  maxp.u32(0x5000).u16(static_cast<int>(glyphs.size()));
  post.u32(0x30000).zeros(28);
  // By rising tag.
  const std::vector<std::pair<const char*, std::string>> tables = {
      {"CFF ", cff_table(glyphs)},
      {"OS/2", os2_table(shape, glyphs)},
      {"cmap", cmap_table(glyphs)},
      {"head", head_table(shape, bounds)},
      {"hhea", hhea_table(shape, bounds, widest_of(glyphs), glyphs.size())},
      {"hmtx", hmtx_table(glyphs)},
      {"maxp", std::move(maxp).take()},
      {"name", name_table(shape)},
      {"post", std::move(post).take()}};
  constexpr int kTables = 9, kPower = 8, kLog = 3;
  FontBytes directory, bodies;
  directory.text("OTTO").u16(kTables).u16(16 * kPower).u16(kLog).u16(16 * (kTables - kPower));
  std::uint32_t offset = 12 + 16 * kTables, head_at = 0;
  for (const auto& [tag, body] : tables) {
    if (std::string_view(tag) == "head") head_at = offset;
    const auto size = static_cast<std::uint32_t>(body.size());
    directory.text(tag).u32(checksum(body)).u32(offset).u32(size);
    bodies.text(body).zeros((4 - body.size() % 4) % 4);
    offset += (size + 3) / 4 * 4;
  }
  std::string file = std::move(directory).take() + std::move(bodies).take();
  FontBytes adjustment;
  adjustment.u32(0xb1b0afbau - checksum(file));
  file.replace(head_at + 8, 4, std::move(adjustment).take());
  return file;
}

}  // namespace recut::gui
