#include "native/cache/store.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/support/check.h"
#include "engine/support/units.h"
#include "native/cache/build.h"
#include "native/cache/entry.h"
#include "native/cache/files.h"

namespace recut::cache {
namespace {

constexpr std::string_view kEntry = ".entry", kDescription = ".json";
constexpr std::string_view kKinds[] = {"kernels", "steps", "ways"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The key in a file's name, where the name has that ending.
std::optional<Digest> key_in(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  return Digest::from_hex(name.substr(0, name.size() - ending.size()));
}

}  // namespace

Result<StoreOptions> default_store_options() {
  StoreOptions options;
  options.build = this_build();
  const std::string given = variable("RECUT_CACHE_DIR"), caches = variable("XDG_CACHE_HOME"),
                    home = variable("HOME"), limit = variable("RECUT_CACHE_LIMIT");
  if (!given.empty())
    options.directory = given;
  else if (caches.starts_with("/"))
    options.directory = caches + "/recut";
  else if (!home.empty())
    options.directory = home + "/.cache/recut";
  else
    return error("there is no directory for a cache: RECUT_CACHE_DIR names none, nor does HOME");
  if (limit.empty()) return options;
  const auto bytes = parse_bytes(limit);
  if (!bytes)
    return error(fmt::format("RECUT_CACHE_LIMIT: {}", bytes.diagnostics().front().message));
  options.limit_bytes = *bytes;
  return options;
}

Store::Store(StoreOptions options) : options_(std::move(options)) {}

std::string Store::folder(std::string_view kind) const {
  return fmt::format("{}/{}", options_.directory, kind);
}

std::string Store::path(std::string_view kind, const Digest& key, std::string_view ending) const {
  return fmt::format("{}/{}{}", folder(kind), key.hex(), ending);
}

Result<std::optional<std::string>> Store::find(std::string_view kind, const Digest& key) const {
  const std::string name = path(kind, key, kEntry);
  const auto bytes = read_own(name);
  if (!bytes || !*bytes) return bytes;
  auto contents = read_entry(**bytes, key);
  if (!contents) return Diagnostic{contents.diagnostics().front().message, name, 0, 0};
  if (contents->build != options_.build)
    return Diagnostic{fmt::format("the entry was written by Recut {}, this is {}", contents->build,
                                  options_.build),
                      name, 0, 0};
  mark_used(name);
  return std::optional(std::move(contents->payload));
}

Result<Done> Store::keep(std::string_view kind, const Digest& key, std::string_view payload,
                         std::string_view description) const {
  RECUT_CHECK(std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds),
              "what is kept is of a kind that is listed and cleared");
  const std::string entry = entry_of(key, options_.build, payload);
  if (static_cast<std::int64_t>(entry.size() + description.size()) > options_.limit_bytes)
    return error(fmt::format("an entry of {} is more than the cache may hold, {}",
                             format_bytes(static_cast<std::int64_t>(entry.size())),
                             format_bytes(options_.limit_bytes)));
  if (auto made = make_directory(folder(kind)); !made) return made;
  remove_abandoned(folder(kind));
  if (auto done = write_whole(path(kind, key, kEntry), entry); !done) return done;
  if (auto done = write_whole(path(kind, key, kDescription), description); !done) {
    remove(kind, key);
    return done;
  }
  make_room(kind, key);
  return Done{};
}

// Removes the entry first: a description alone can't be used.
void Store::remove(std::string_view kind, const Digest& key) const {
  unlink(path(kind, key, kEntry).c_str());
  unlink(path(kind, key, kDescription).c_str());
}

// Evicts the least recently used entries. A reader of a removed entry has it whole already, or
// misses it.
void Store::make_room(std::string_view kind, const Digest& kept) const {
  std::vector<EntryFacts> entries = scan();
  std::int64_t bytes = 0;
  for (const EntryFacts& entry : entries) bytes += entry.bytes;
  std::sort(entries.begin(), entries.end(), [](const EntryFacts& a, const EntryFacts& b) {
    return std::tie(a.used, a.kind, a.key.bytes) < std::tie(b.used, b.kind, b.key.bytes);
  });
  for (const EntryFacts& entry : entries) {
    if (bytes <= options_.limit_bytes) return;
    if (entry.kind == kind && entry.key == kept) continue;
    remove(entry.kind, entry.key);
    bytes -= entry.bytes;
  }
}

std::string Store::fault_of(const EntryFacts& entry) const {
  const auto bytes = read_own(path(entry.kind, entry.key, kEntry));
  if (!bytes) return bytes.diagnostics().front().message;
  if (!*bytes) return "";  // removed in the meantime
  if (const auto contents = read_entry(**bytes, entry.key); !contents)
    return contents.diagnostics().front().message;
  if (!entry.description.empty() && !nlohmann::json::accept(entry.description))
    return "its description is no JSON";
  return "";
}

std::vector<EntryFacts> Store::scan() const {
  std::vector<EntryFacts> entries;
  for (const std::string_view kind : kKinds) {
    std::map<std::string, std::int64_t> sizes;
    const std::vector<FileFacts> files = files_in(folder(kind));
    for (const FileFacts& file : files) sizes[file.name] = file.bytes;
    for (const FileFacts& file : files)
      if (const auto key = key_in(file.name, kEntry)) {
        const std::int64_t described = sizes[key->hex() + std::string(kDescription)];
        entries.push_back({std::string(kind), *key, file.bytes + described, file.used, "", ""});
      }
  }
  return entries;
}

std::vector<EntryFacts> Store::list(bool check) const {
  std::vector<EntryFacts> entries = scan();
  for (EntryFacts& entry : entries) {
    if (auto text = read_own(path(entry.kind, entry.key, kDescription)); text && *text)
      entry.description = std::move(**text);
    if (check) entry.fault = fault_of(entry);
  }
  return entries;
}

std::size_t Store::clear() const {
  const std::size_t entries = scan().size();
  for (const std::string_view kind : kKinds) {
    remove_abandoned(folder(kind));
    for (const FileFacts& file : files_in(folder(kind)))
      for (const std::string_view ending : {kEntry, kDescription})
        if (const auto key = key_in(file.name, ending)) remove(kind, *key);
    rmdir(folder(kind).c_str());  // fails where anything else is in it
  }
  return entries;
}

}  // namespace recut::cache
