#include "native/operators/operator_record.h"

#include <fmt/core.h>

#include <utility>

#include "native/cache/digest.h"

namespace recut::operators {
namespace {

constexpr int kFormat = 1;
constexpr std::string_view kLibraryEnding = ".so";

Json fields_of(const KernelEntry& entry) {
  return {{"arguments", entry.arguments}, {"library", entry.library},
          {"processor", entry.processor}, {"arena_bytes", entry.arena_bytes},
          {"version", entry.version},     {"build", entry.build}};
}

std::string checksum_of(const KernelEntry& entry) {
  const std::string text = fields_of(entry).dump(-1, ' ', false, Json::error_handler_t::replace);
  return cache::digest_of({"operator kernel", text}).hex();
}

std::string text_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

// The checksum proves that no field has changed; types are looked at before.
KernelEntry entry_from(const Json& json) {
  KernelEntry entry;
  entry.fault = "the entry is damaged";
  if (!json.is_object()) return entry;
  entry.arguments = json.value("arguments", Json());
  entry.library = text_at(json, "library");
  entry.processor = text_at(json, "processor");
  entry.version = text_at(json, "version");
  entry.build = text_at(json, "build");
  const Json bytes = json.value("arena_bytes", Json());
  if (bytes.is_number_integer()) entry.arena_bytes = bytes.get<std::int64_t>();
  const bool whole = entry.arguments.is_array() && is_library_name(entry.library) &&
                     entry.arena_bytes >= 0 && text_at(json, "checksum") == checksum_of(entry);
  if (whole) entry.fault.clear();
  return entry;
}

}  // namespace

Result<std::vector<KernelEntry>> read_record(std::string_view text, std::string_view target,
                                             std::string_view device) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return error("the record is damaged: it is no JSON object");
  if (const Json format = json.value("format", Json()); format != kFormat)
    return error(
        fmt::format("the record has the format {}, expected {}: another version of Recut "
                    "wrote it",
                    format.dump(-1, ' ', false, Json::error_handler_t::replace), kFormat));
  if (text_at(json, "operator") != target || text_at(json, "device") != device)
    return error("the record is another operator's or device's");
  const Json list = json.value("entries", Json());
  if (!list.is_array()) return error("the record is damaged: it has no list of entries");
  std::vector<KernelEntry> entries;
  for (const Json& item : list) entries.push_back(entry_from(item));
  return entries;
}

std::string record_text(const std::vector<KernelEntry>& entries, std::string_view target,
                        std::string_view device) {
  Json list = Json::array();
  for (const KernelEntry& entry : entries) {
    Json fields = fields_of(entry);
    fields["checksum"] = checksum_of(entry);
    list.push_back(std::move(fields));
  }
  return Json{{"format", kFormat}, {"operator", target}, {"device", device}, {"entries", list}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string library_name(std::string_view library_bytes) {
  return cache::digest_of({library_bytes}).hex() + std::string(kLibraryEnding);
}

bool is_library_name(std::string_view name) {
  return name.ends_with(kLibraryEnding) &&
         cache::Digest::from_hex(name.substr(0, name.size() - kLibraryEnding.size())).has_value();
}

}  // namespace recut::operators
