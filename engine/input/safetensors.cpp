// Reader and writer of safetensors (safetensors.h). Tensors are views of the file's bytes: nothing
// is copied. Ranges are checked for bounds, length and overlap in O(n log n); all errors of a
// header are reported together.
#include "engine/input/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::size_t kSafetensorsMaxRank = 64;

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr DTypeName kSafetensorsDTypes[] = {{"F64", DType::f64},
                                            {"F32", DType::f32},
                                            {"F16", DType::f16},
                                            {"BF16", DType::bf16},
                                            {"I64", DType::i64},
                                            {"I32", DType::i32},
                                            {"I16", DType::i16},
                                            {"I8", DType::i8},
                                            {"U8", DType::u8},
                                            {"BOOL", DType::boolean},
                                            {"C64", DType::c64},
                                            {"C128", DType::c128},
                                            {"F8_E4M3", DType::f8e4m3fn},
                                            {"F8_E5M2", DType::f8e5m2},
                                            {"F8_E4M3FNUZ", DType::f8e4m3fnuz},
                                            {"F8_E5M2FNUZ", DType::f8e5m2fnuz}};

std::optional<DType> dtype_of(std::string_view name) {
  for (const DTypeName& row : kSafetensorsDTypes)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

std::string_view name_of(DType dtype) {
  for (const DTypeName& row : kSafetensorsDTypes)
    if (row.dtype == dtype) return row.name;
  RECUT_CHECK(false, "an absent tensor can't be written");
}

// Byte range of a tensor, relative to the first byte of the data.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class HeaderReader {
 public:
  HeaderReader(std::string_view values, DiagnosticCollector& diagnostics)
      : values_(values), diagnostics_(diagnostics) {}

  std::vector<NamedTensor> read(JsonValue header) {
    for (const JsonMember member : header.items())
      if (member.key != "__metadata__") read_tensor(member);
    check_names();
    check_overlaps();
    return std::move(tensors_);
  }

 private:
  void read_tensor(const JsonMember& member) {
    const std::string who = "tensor " + quote(member.key);
    if (!member.value.is(JsonKind::object))
      return diagnostics_.add(
          fmt::format("{} is {}, expected an object", who, describe(member.value.kind())));
    JsonFields fields(member.value, who, diagnostics_);
    const auto dtype = read_dtype(fields);
    const auto shape = read_ints(fields, "shape");
    const auto offsets = read_ints(fields, "data_offsets");
    if (!dtype || !shape || !offsets) return;
    const auto range = check_range(fields, *offsets);
    if (!range || !check_length(fields, *dtype, *shape, range->end - range->begin)) return;
    ranges_.push_back(*range);
    tensors_.push_back({std::string(member.key), *dtype, *shape,
                        values_.substr(static_cast<std::size_t>(range->begin),
                                       static_cast<std::size_t>(range->end - range->begin))});
  }

  static std::optional<DType> read_dtype(JsonFields& fields) {
    const auto name = fields.text("dtype", true);
    if (!name) return std::nullopt;
    const auto dtype = dtype_of(*name);
    if (!dtype) fields.report_error(fmt::format("dtype {} is none that Recut knows", quote(*name)));
    return dtype;
  }

  static std::optional<std::vector<std::int64_t>> read_ints(JsonFields& fields,
                                                            std::string_view key) {
    const JsonValue list = fields.find(key, JsonKind::array, true);
    if (!list.present()) return std::nullopt;
    std::vector<std::int64_t> ints;
    for (const JsonMember item : list.items()) {
      if (!item.value.is(JsonKind::integer) || item.value.integer() < 0 ||
          ints.size() == kSafetensorsMaxRank) {
        fields.report_error(
            fmt::format("'{}' is no list of up to {} counts", key, kSafetensorsMaxRank));
        return std::nullopt;
      }
      ints.push_back(item.value.integer());
    }
    return ints;
  }

  std::optional<Range> check_range(JsonFields& fields, const std::vector<std::int64_t>& offsets) {
    const auto size = static_cast<std::int64_t>(values_.size());
    if (offsets.size() == 2 && offsets[0] <= offsets[1] && offsets[1] <= size)
      return Range{offsets[0], offsets[1]};
    fields.report_error(fmt::format("'data_offsets' is [{}], expected [begin, end] within {} bytes",
                                    fmt::join(offsets, ", "), size));
    return std::nullopt;
  }

  static bool check_length(JsonFields& fields, DType dtype, const Shape& shape,
                           std::int64_t length) {
    const TensorType type = make_type_of(dtype, shape);
    if (const auto sound = check_size(type); !sound) {
      fields.report_error(sound.diagnostics().front().message);
      return false;
    }
    if (byte_size(type) == length) return true;
    fields.report_error(fmt::format("{} bytes for {}{}, expected {}", length, short_name(dtype),
                                    format_shape(shape), byte_size(type)));
    return false;
  }

  // Without strides: the strides of an unchecked shape may overflow.
  static TensorType make_type_of(DType dtype, const Shape& shape) {
    return TensorType{dtype, shape, {}, {}};
  }

  void check_names() {
    std::vector<std::string_view> names;
    for (const NamedTensor& t : tensors_) names.push_back(t.name);
    std::sort(names.begin(), names.end());
    for (std::size_t i = 1; i < names.size(); ++i)
      if (names[i] == names[i - 1])
        diagnostics_.add(fmt::format("tensor {} stands there twice", quote(names[i])));
  }

  void check_overlaps() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].begin < ranges_[i].end) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return ranges_[a].begin < ranges_[b].begin;
    });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (ranges_[order[i]].begin < ranges_[order[i - 1]].end)
        diagnostics_.add(fmt::format("the bytes of tensors {} and {} overlap",
                                     quote(tensors_[order[i - 1]].name),
                                     quote(tensors_[order[i]].name)));
  }

  std::string_view values_;
  DiagnosticCollector& diagnostics_;
  std::vector<NamedTensor> tensors_;
  std::vector<Range> ranges_;  // of each of `tensors_`
};

std::uint64_t read_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

}  // namespace

Result<std::vector<NamedTensor>> parse_safetensors(std::string_view bytes,
                                                   std::string_view file_name) {
  const auto fault = [&](std::string message) {
    return Diagnostic{"safetensors: " + message, std::string(file_name), 0, 0};
  };
  if (bytes.size() < kLengthBytes)
    return fault(
        fmt::format("{} bytes, expected the header's length in the first 8", bytes.size()));
  const std::uint64_t length = read_length(bytes);
  if (length > kMaxHeaderBytes || length > bytes.size() - kLengthBytes)
    return fault(fmt::format("a header of {} bytes is announced, {} bytes follow", length,
                             bytes.size() - kLengthBytes));
  const std::string_view header = bytes.substr(kLengthBytes, length);
  const auto document = parse_json(header, file_name);
  if (!document) return document.diagnostics();
  if (!document->root().is(JsonKind::object))
    return fault(
        fmt::format("the header is {}, expected an object", describe(document->root().kind())));
  DiagnosticCollector diagnostics(header, file_name);
  auto tensors =
      HeaderReader(bytes.substr(kLengthBytes + length), diagnostics).read(document->root());
  if (!diagnostics.none()) return diagnostics.take();
  std::sort(tensors.begin(), tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  return tensors;
}

std::string write_safetensors(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& t : tensors) sorted.push_back(&t);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NamedTensor* a, const NamedTensor* b) { return a->name < b->name; });
  std::string header = "{";
  std::string values;
  for (const NamedTensor* t : sorted) {
    const std::string name =
        nlohmann::json(t->name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    header += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          header.size() == 1 ? "" : ",", name, name_of(t->dtype),
                          fmt::join(t->shape, ","), values.size(), values.size() + t->bytes.size());
    values += t->bytes;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i) & 0xff);
  return bytes + header + values;
}

}  // namespace recut
