// Finds the program and the weights in an archive of torch.export (exported_archive.h).
//
//   ROOT/archive_format                           pt2
//   ROOT/models/NAME.json                         the program
//   ROOT/data/weights/NAME_weights_config.json    names → members of raw bytes, with types
//   ROOT/data/constants/NAME_constants_config.json
//
// Up to 2.7 the program is the member serialized_exported_program.json, and all values are pickles;
// 2.8 has the folders, with pickles. A member holds a whole storage that several names may view.
// Invariant: no value is read outside its member, and the bytes that views are copied to stay within
// a multiple of the archive's own.
#include "engine/input/exported_archive.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "engine/input/bytes.h"
#include "engine/input/exported_values.h"
#include "engine/input/graph_file.h"
#include "engine/input/joint_values.h"
#include "engine/input/zip_archive.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"
#include "engine/support/units.h"

namespace recut {
namespace {

constexpr std::string_view kOldProgram = "serialized_exported_program.json";
constexpr std::int64_t kMaxConfigBytes = std::int64_t{1} << 28;
constexpr std::int64_t kMinMemory = std::int64_t{1} << 28;  // that any archive may unpack to
constexpr std::int64_t kMaxGrowth = 64;                     // beyond that, by byte of the archive

Diagnostic in_file(std::string message, std::string_view file_name) {
  return {std::move(message), std::string(file_name), 0, 0};
}

// Owner of the bytes of an archive's values.
struct ArchiveValues {
  std::map<std::string, std::string, std::less<>> members;  // unpacked, by name
  std::deque<std::string> copies;                           // of views that aren't dense
};

class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, std::string_view file_name, const ZipArchive& archive)
      : file_name_(file_name),
        archive_(archive),
        memory_(kMinMemory + kMaxGrowth * static_cast<std::int64_t>(bytes.size())) {}

  Result<ExportedFile> read(std::string_view key) {
    if (const auto root = find_root(); !root) return root.diagnostics();
    if (const auto model = choose_program(key); !model) return model.diagnostics();
    auto text = archive_.unpack(*program_, kMaxInputBytes);
    if (!text) return text.diagnostics();
    return read_program(std::move(*text));
  }

 private:
  // The folder that holds all members, with its slash; "" for the flat archives of old versions.
  Result<Done> find_root() {
    for (const ZipMember& member : archive_.members()) {
      const std::string_view name = member.name;
      const std::string_view root = name.substr(0, name.find('/') + 1);
      if (&member == &archive_.members().front()) root_ = std::string(root);
      if (root != root_)
        return in_file(fmt::format("the archive has several roots, {} and {}, expected the one "
                                   "folder that torch.export.save makes",
                                   quote(root_.empty() ? name : root_), quote(name)),
                       file_name_);
    }
    return Done{};
  }

  const ZipMember* member(std::string_view name) const {
    return archive_.find(root_ + std::string(name));
  }

  // True if a member's name begins so.
  bool has(std::string_view prefix) const {
    const std::string whole = root_ + std::string(prefix);
    return std::any_of(archive_.members().begin(), archive_.members().end(),
                       [&](const ZipMember& m) { return m.name.starts_with(whole); });
  }

  Result<Done> expect_text(std::string_view name, std::string_view expected) const {
    const ZipMember* found = member(name);
    if (found == nullptr) return Done{};
    constexpr std::int64_t kMaxWordBytes = 100;
    auto text = archive_.unpack(*found, kMaxWordBytes);
    if (!text) return text.diagnostics();
    while (!text->empty() && (text->back() == '\n' || text->back() == ' ')) text->pop_back();
    if (*text == expected) return Done{};
    return in_file(fmt::format("the member {} says {}, expected {}", quote(found->name),
                               quote(*text), quote(expected)),
                   file_name_);
  }

  Result<Done> choose_program(std::string_view key) {
    const std::string folder = root_ + "models/";
    for (const ZipMember& m : archive_.members()) {
      const std::string_view name = m.name;
      if (!name.starts_with(folder) || !name.ends_with(".json")) continue;
      keys_.emplace_back(name.substr(folder.size(), name.size() - folder.size() - 5));
    }
    if (keys_.empty() && member(kOldProgram) != nullptr) {
      keys_ = {"model"};
      program_ = member(kOldProgram);
    }
    if (keys_.empty()) return refused();
    for (const auto& [name, expected] :
         {std::pair("archive_format", "pt2"), {"archive_version", "0"}, {"byteorder", "little"}})
      if (auto right = expect_text(name, expected); !right) return right;
    const auto named = [&](std::string_view name) {
      return std::find(keys_.begin(), keys_.end(), name) != keys_.end();
    };
    if (named(key))
      model_ = std::string(key);
    else if (key == kDefaultGraphKey)
      model_ = named("model") ? "model" : keys_.front();
    else
      return no_model(key);
    if (program_ == nullptr) program_ = member(fmt::format("models/{}.json", model_));
    return Done{};
  }

  Diagnostic no_model(std::string_view key) const {
    TypoCorrection near(key);
    for (const std::string& known : keys_) near.consider(known);
    return in_file(fmt::format("there is no graph {}, expected one of: {}{}", quote(key),
                               fmt::join(keys_, ", "), near.suggestion()),
                   file_name_);
  }

  // Words for the archives that have the same container or the same suffix.
  Diagnostic refused() const {
    constexpr std::string_view kExport =
        "export the module with torch.export.export, and save that with torch.export.save";
    if (has("data/aotinductor/"))
      return in_file(
          fmt::format("an AOTInductor package: it holds compiled code and no program; {}", kExport),
          file_name_);
    if (member("data.pkl") != nullptr)
      return in_file(
          fmt::format("{}: it holds a pickle, which Recut doesn't run; {}",
                      has("code/") ? "a TorchScript archive" : "written by torch.save", kExport),
          file_name_);
    return in_file(
        "a zip archive without a program of torch.export, expected a member "
        "'models/NAME.json' in its one folder",
        file_name_);
  }

  Result<ExportedFile> read_program(std::string text) {
    ExportedFile file;
    file.text = std::move(text);
    file.member = fmt::format("{}/{}", file_name_, program_->name);
    auto program = read_exported_program(file.text, file.member, model_);
    if (!program) return program.diagnostics();
    file.program = std::move(*program);
    file.key = model_;
    file.keys = keys_;
    values_ = std::make_shared<ArchiveValues>();
    if (const auto read = read_values(file); !read) return read.diagnostics();
    file.note = file.program.note;
    if (!lacking_.empty()) {
      constexpr std::size_t kShownNames = 3;
      const std::vector<std::string> shown(
          lacking_.begin(),
          lacking_.begin() + static_cast<std::ptrdiff_t>(std::min(lacking_.size(), kShownNames)));
      file.note += fmt::format("{}the file has no values of {} of its weights, {}{}: {}",
                               file.note.empty() ? "" : "; ", lacking_.size(),
                               fmt::join(shown, ", "), lacking_.size() > shown.size() ? ", …" : "",
                               pickled_ ? "they are pickled, and Recut runs no pickles; save the "
                                          "program anew with PyTorch 2.9 or later"
                                        : "give them by --tensors or --seed");
    }
    file.storage = values_;
    return file;
  }

  struct Config {
    std::string folder;  // of the members, with its slash
    std::optional<Result<JsonDocument>> document;
    std::unordered_map<std::string_view, JsonValue> entries;  // looked up only, never walked
  };

  Result<Done> read_config(std::string_view what, Config& config) {
    config.folder = fmt::format("{}data/{}/", root_, what);
    const ZipMember* found = member(fmt::format("data/{0}/{1}_{0}_config.json", what, model_));
    pickled_ = pickled_ || found == nullptr;
    if (found == nullptr) return Done{};
    const auto text = archive_.unpack(*found, kMaxConfigBytes);
    if (!text) return text.diagnostics();
    config.document.emplace(parse_json(*text, fmt::format("{}/{}", file_name_, found->name)));
    if (!*config.document) return config.document->diagnostics();
    const JsonValue entries = member_of((*config.document)->root(), "config");
    if (entries.is(JsonKind::object))
      for (const JsonMember entry : entries.items()) config.entries.emplace(entry.key, entry.value);
    return Done{};
  }

  Result<Done> read_values(ExportedFile& file) {
    Config weights, constants;
    if (auto read = read_config("weights", weights); !read) return read;
    if (auto read = read_config("constants", constants); !read) return read;
    for (const ExportedInput& input : file.program.held) {
      const Config& config = weights.entries.count(input.name) != 0 ? weights : constants;
      const auto entry = config.entries.find(input.name);
      auto tensor = read_value(config, entry == config.entries.end() ? JsonValue() : entry->second);
      if (!tensor) {
        Diagnostics faults = tensor.diagnostics();
        faults.front().message =
            fmt::format("the value of {}: {}", quote(input.name), faults.front().message);
        faults.front().file = file_name_;
        return faults;
      }
      tensor->name = "in." + input.placeholder;
      if (tensor->dtype == DType::none)
        lacking_.push_back(input.name);
      else
        file.tensors.push_back(std::move(*tensor));
    }
    return Done{};
  }

  // No dtype where the archive has no value: it has none of this name, pickled it, or exported the
  // program without any.
  Result<NamedTensor> read_value(const Config& config, JsonValue entry) {
    NamedTensor tensor;
    if (!entry.present()) return tensor;
    const JsonValue pickled = member_of(entry, "use_pickle");
    if (pickled.is(JsonKind::boolean) && pickled.boolean()) {
      pickled_ = true;
      return tensor;
    }
    const auto type = read_type(member_of(entry, "tensor_meta"));
    if (!type) return type.diagnostics();
    const std::string_view path = text_of(entry, "path_name");
    const ZipMember* found = path.find('/') == std::string_view::npos
                                 ? archive_.find(config.folder + std::string(path))
                                 : nullptr;
    if (found == nullptr)
      return error(fmt::format("there is no member {} in {}", quote(path), quote(config.folder)));
    if (found->size == 0 && byte_size(*type) > 0) return tensor;
    const auto storage = unpacked(*found);
    if (!storage) return storage.diagnostics();
    const auto bytes =
        view(**storage, *type, member_of(member_of(entry, "tensor_meta"), "storage_offset"));
    if (!bytes) return bytes.diagnostics();
    tensor.dtype = type->dtype;
    tensor.shape = type->shape;
    tensor.bytes = *bytes;
    return tensor;
  }

  static Result<TensorType> read_type(JsonValue meta) {
    ExportedSymbols symbols;
    const auto json = ExportedValues(symbols).type(meta);
    if (!json) return json.diagnostics();
    const auto document = parse_json(*json, "");
    if (!document) return document.diagnostics();
    const auto type = read_joint_type(document->root(), Symbols());
    if (!type) return type.diagnostics();
    return **type;
  }

  Result<const std::string*> unpacked(const ZipMember& found) {
    auto known = values_->members.find(found.name);
    if (known == values_->members.end()) {
      if (!take_memory(found.size)) return too_much_memory();
      auto bytes = archive_.unpack(found, kMaxTensorBytes);
      if (!bytes) return bytes.diagnostics();
      known = values_->members.emplace(found.name, std::move(*bytes)).first;
    }
    return &known->second;
  }

  bool take_memory(std::int64_t bytes) {
    if (bytes > memory_) return false;
    memory_ -= bytes;
    return true;
  }
  static Diagnostic too_much_memory() {
    return error(
        "the archive's values take far more memory than the file: it is no archive of "
        "weights");
  }

  // The value's elements in row-major order: a part of the storage, or a copy.
  Result<std::string_view> view(const std::string& storage, const TensorType& type,
                                JsonValue offset) {
    const std::int64_t item = item_bytes(type.dtype), count = element_count(type.shape);
    const JsonValue first = member_of(offset, "as_int");
    const std::int64_t given = first.is(JsonKind::integer) ? first.integer() : 0;
    const std::int64_t begin = given < 0 || given > kMaxBytes ? kMaxBytes : given;
    std::int64_t last = begin;
    for (std::size_t d = 0; d < type.shape.size(); ++d)
      last += (type.shape[d] - 1) * type.strides[d];
    if (count == 0) return std::string_view();
    const auto elements = static_cast<std::int64_t>(storage.size()) / item;
    if (last >= elements)
      return error(fmt::format("it is {} from element {}, and its member has {} elements",
                               format(type), begin, elements));
    if (is_contiguous(type))
      return std::string_view(storage).substr(static_cast<std::size_t>(begin * item),
                                              static_cast<std::size_t>(count * item));
    if (!take_memory(count * item)) return too_much_memory();
    std::string& copy = values_->copies.emplace_back();
    copy.reserve(static_cast<std::size_t>(count * item));
    std::vector<std::int64_t> at(type.shape.size(), 0);
    std::int64_t element = begin;
    for (std::int64_t i = 0; i < count; ++i) {
      copy.append(storage, static_cast<std::size_t>(element * item),
                  static_cast<std::size_t>(item));
      for (std::size_t d = at.size(); d-- > 0;) {
        element += type.strides[d];
        if (++at[d] < type.shape[d]) break;
        element -= type.shape[d] * type.strides[d];
        at[d] = 0;
      }
    }
    return std::string_view(copy);
  }

  const std::string file_name_;
  const ZipArchive& archive_;
  std::int64_t memory_;  // that its values may still take
  std::string root_, model_;
  std::vector<std::string> keys_, lacking_;
  const ZipMember* program_ = nullptr;
  std::shared_ptr<ArchiveValues> values_;
  bool pickled_ = false;
};

}  // namespace

Result<ExportedFile> read_exported_archive(std::string_view bytes, std::string_view file_name,
                                           std::string_view key) {
  const auto archive = ZipArchive::open(bytes);
  auto file = archive ? ArchiveReader(bytes, file_name, *archive).read(key)
                      : Result<ExportedFile>(archive.diagnostics());
  if (file) return file;
  Diagnostics faults = file.diagnostics();
  for (Diagnostic& fault : faults)
    if (fault.file.empty()) fault.file = std::string(file_name);
  return faults;
}

}  // namespace recut
