// recut cache: lists, verifies and clears compiled steps and kernels kept between runs.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "native/cache/store.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownDigits = 12;  // of a key

// An entry's description; null if it is no JSON.
Json described(const cache::EntryFacts& entry) {
  Json json = Json::parse(entry.description, nullptr, false);
  return json.is_object() ? json : Json();
}

std::string field_text(const Json& description, const char* key) {
  const auto at = description.find(key);
  return at != description.end() && at->is_string() ? at->get<std::string>() : "";
}

std::string time_text(std::int64_t nanoseconds) {
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

std::int64_t bytes_of(const std::vector<cache::EntryFacts>& entries) {
  std::int64_t bytes = 0;
  for (const cache::EntryFacts& entry : entries) bytes += entry.bytes;
  return bytes;
}

std::string as_json(const cache::Store& store, const std::vector<cache::EntryFacts>& entries,
                    bool checked) {
  Json list = Json::array();
  for (const cache::EntryFacts& entry : entries) {
    list.push_back({{"kind", entry.kind},
                    {"key", entry.key.hex()},
                    {"bytes", entry.bytes},
                    {"used", static_cast<double>(entry.used) * 1e-9},
                    {"description", described(entry)}});
    if (checked) list.back()["fault"] = entry.fault.empty() ? Json() : Json(entry.fault);
  }
  return Json{{"directory", store.directory()},
              {"limit_bytes", store.limit_bytes()},
              {"bytes", bytes_of(entries)},
              {"entries", list}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string summary(const cache::Store& store, const std::vector<cache::EntryFacts>& entries) {
  return fmt::format("{} entr{}, {} of at most {}, in {}\n", entries.size(),
                     entries.size() == 1 ? "y" : "ies", format_bytes(bytes_of(entries)),
                     format_bytes(store.limit_bytes()), store.directory());
}

int list(const cache::Store& store, bool json, const Console& console) {
  const auto entries = store.list(false);
  if (json) {
    console.out << as_json(store, entries, false);
    return kDone;
  }
  Table table;
  for (const char* title : {"kind", "key", "last used", "graph", "budget"}) table.column(title);
  table.column("bytes", Table::Align::right);
  for (const cache::EntryFacts& entry : entries) {
    const Json description = described(entry);
    table.row({entry.kind, entry.key.hex().substr(0, kShownDigits), time_text(entry.used),
               field_text(description, "graph"), field_text(description, "budget"),
               format_bytes(entry.bytes)});
  }
  console.out << summary(store, entries);
  if (!entries.empty()) console.out << "\n" << table.format(0);
  return kDone;
}

int verify(const cache::Store& store, bool json, const Console& console) {
  const auto entries = store.list(true);
  const auto faults = std::count_if(entries.begin(), entries.end(),
                                    [](const auto& entry) { return !entry.fault.empty(); });
  if (json) {
    console.out << as_json(store, entries, true);
  } else {
    for (const cache::EntryFacts& entry : entries)
      if (!entry.fault.empty())
        console.out << fmt::format("{}/{}: {}\n", entry.kind, entry.key.hex(), entry.fault);
    console.out << summary(store, entries);
    if (faults == 0) console.out << "all are sound\n";
    if (faults > 0)
      console.out << fmt::format(
          "{} can't be used as they are; a run that needs them compiles again\n", faults);
  }
  return faults == 0 ? kDone : kCheckFailed;
}

int clear(const cache::Store& store, bool json, const Console& console) {
  const std::size_t removed = store.clear();
  if (json)
    console.out << Json{{"directory", store.directory()}, {"removed", removed}}.dump(2) << "\n";
  else
    console.out << fmt::format("removed {} entr{} from {}\n", removed, removed == 1 ? "y" : "ies",
                               store.directory());
  return kDone;
}

using Deed = int (*)(const cache::Store& store, bool json, const Console& console);

int with_store(Deed deed, bool json, const Console& console) {
  auto options = cache::default_store_options();
  if (!options) return console.report_error(options.diagnostics());
  return deed(cache::Store(std::move(*options)), json, console);
}

void add_deed(CLI::App& cache, Action& chosen, const char* name, const char* what, Deed deed) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command = *cache.add_subcommand(name, what);
  command.add_flag("--json", *json, "Print one JSON value instead of the text");
  const std::string example = fmt::format("cache {}", name);
  command.footer(footer_with_examples("", {example, example + " --json"}));
  command.callback([deed, json, &chosen] {
    chosen = [deed, json](const Console& console) { return with_store(deed, *json, console); };
  });
}

}  // namespace

void add_cache(CLI::App& app, Action& chosen) {
  CLI::App& command =
      *app.add_subcommand("cache", "List, verify or clear the compiled steps that recut run keeps");
  command.require_subcommand(1);
  add_deed(command, chosen, "list", "List the entries and their sizes", list);
  add_deed(command, chosen, "verify", "Check every entry. Exit code 1 if one is unusable", verify);
  add_deed(command, chosen, "clear", "Remove all entries", clear);
  command.footer(footer_with_examples(
      "The directory is RECUT_CACHE_DIR, or recut in XDG_CACHE_HOME, or ~/.cache/recut. It holds "
      "at most RECUT_CACHE_LIMIT (default: 2GiB); the least recently used entries go first. A JSON "
      "file beside each entry describes it.",
      {"cache list", "cache verify"}));
}

}  // namespace recut::native
