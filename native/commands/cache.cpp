// recut cache: lists, verifies and clears all results that are kept: steps and kernels of runs,
// single operators, libraries.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "native/cache/libraries.h"
#include "native/cache/store.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/operator_arguments.h"
#include "native/operators/kernel_json.h"
#include "native/operators/operator_store.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownDigits = 12;  // of a key

// One row of all that is kept.
struct CacheRow {
  std::string kind, key;
  std::int64_t bytes = 0, used = 0;
  Json description;  // null: none that is JSON
  std::string contents, budget;
  std::string fault;
};

// The places of one directory.
struct Caches {
  cache::Store steps;
  operators::OperatorStore operators;
};

std::string field_text(const Json& description, const char* key) {
  const auto at = description.find(key);
  return at != description.end() && at->is_string() ? at->get<std::string>() : "";
}

CacheRow row_of(const cache::EntryFacts& entry) {
  Json json = Json::parse(entry.description, nullptr, false);
  if (!json.is_object()) json = Json();
  const std::string graph = field_text(json, "graph"), budget = field_text(json, "budget");
  return {entry.kind,      entry.key.hex(), entry.bytes, entry.used,
          std::move(json), graph,           budget,      entry.fault};
}

CacheRow row_of(const operators::KeptOperator& kept) {
  const operators::KernelEntry& entry = kept.entry;
  const Json description = {{"operator", kept.target},      {"device", kept.device},
                            {"arguments", entry.arguments}, {"processor", entry.processor},
                            {"library", entry.library},     {"build", entry.build}};
  return {
      "operators", entry.library.substr(0, entry.library.find('.')),
      kept.bytes,  kept.used,
      description, fmt::format("{}({})", kept.target, operators::arguments_text(entry.arguments)),
      "",          kept.fault};
}

CacheRow row_of(const cache::LibraryFacts& library) {
  const Json description = {{"name", library.name}};
  return {"libraries", library.hash, library.bytes, library.used, description, library.name, "",
          ""};
}

std::vector<CacheRow> rows_of(const Caches& caches, bool check) {
  std::vector<CacheRow> rows;
  for (const auto& entry : caches.steps.list(check)) rows.push_back(row_of(entry));
  for (const auto& entry : caches.operators.list(check)) rows.push_back(row_of(entry));
  for (const auto& entry : cache::list_libraries(caches.steps.directory()))
    rows.push_back(row_of(entry));
  return rows;
}

std::string time_text(std::int64_t nanoseconds) {
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

std::int64_t bytes_of(const std::vector<CacheRow>& rows) {
  std::int64_t bytes = 0;
  for (const CacheRow& row : rows) bytes += row.bytes;
  return bytes;
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_json(const cache::Store& store, const std::vector<CacheRow>& rows, bool checked) {
  Json list = Json::array();
  for (const CacheRow& row : rows) {
    list.push_back({{"kind", row.kind},
                    {"key", row.key},
                    {"bytes", row.bytes},
                    {"used", static_cast<double>(row.used) * 1e-9},
                    {"description", row.description}});
    if (checked) list.back()["fault"] = row.fault.empty() ? Json() : Json(row.fault);
  }
  return text_of({{"directory", store.directory()},
                  {"limit_bytes", store.limit_bytes()},
                  {"bytes", bytes_of(rows)},
                  {"entries", list}});
}

std::string summary(const cache::Store& store, const std::vector<CacheRow>& rows) {
  return fmt::format("{} entr{}, {} of at most {}, in {}\n", rows.size(),
                     rows.size() == 1 ? "y" : "ies", format_bytes(bytes_of(rows)),
                     format_bytes(store.limit_bytes()), store.directory());
}

int list(const Caches& caches, bool json, const Console& console) {
  const auto rows = rows_of(caches, false);
  if (json) {
    console.out << as_json(caches.steps, rows, false);
    return kDone;
  }
  Table table;
  for (const char* title : {"kind", "key", "last used", "contents", "budget"}) table.column(title);
  table.column("bytes", Table::Align::right);
  for (const CacheRow& row : rows)
    table.row({row.kind, row.key.substr(0, kShownDigits), time_text(row.used), row.contents,
               row.budget, format_bytes(row.bytes)});
  console.out << summary(caches.steps, rows);
  if (!rows.empty()) console.out << "\n" << table.format(0);
  return kDone;
}

int verify(const Caches& caches, bool json, const Console& console) {
  const auto rows = rows_of(caches, true);
  const auto faults =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.fault.empty(); });
  if (json) {
    console.out << as_json(caches.steps, rows, true);
  } else {
    for (const CacheRow& row : rows)
      if (!row.fault.empty())
        console.out << fmt::format("{}/{}: {}{}\n", row.kind, row.key, row.fault,
                                   row.kind == "operators" ? ": " + row.contents : "");
    console.out << summary(caches.steps, rows);
    if (faults == 0) console.out << "all are sound\n";
    if (faults > 0)
      console.out << fmt::format(
          "{} can't be used as they are; a run that needs them compiles again\n", faults);
  }
  return faults == 0 ? kDone : kCheckFailed;
}

int clear(const Caches& caches, bool json, const Console& console) {
  const std::string& directory = caches.steps.directory();
  const std::size_t removed =
      caches.steps.clear() + caches.operators.clear() + cache::clear_libraries(directory);
  if (json)
    console.out << Json{{"directory", directory}, {"removed", removed}}.dump(2) << "\n";
  else
    console.out << fmt::format("removed {} entr{} from {}\n", removed, removed == 1 ? "y" : "ies",
                               directory);
  return kDone;
}

// Looks one call up, and says why it isn't found.
int explain(const OperatorArguments& arguments, const Caches& caches, bool json,
            const Console& console) {
  const auto call = arguments.read();
  if (!call) return console.report_error(call.diagnostics());
  const operators::CallFacts facts = operators::facts_of(*call);
  const operators::Lookup lookup = caches.operators.find(facts);
  const bool found = lookup.kernel.has_value();
  if (json)
    console.out << text_of({{"operator", facts.target},
                            {"device", facts.device},
                            {"arguments", facts.arguments},
                            {"found", found},
                            {"library", found ? Json(lookup.kernel->path) : Json()},
                            {"miss", found ? Json() : operators::miss_json(lookup.miss)}});
  else if (found)
    console.out << fmt::format("{}({}): kept\n{}\n", facts.target,
                               operators::arguments_text(facts.arguments), lookup.kernel->path);
  else
    console.out << fmt::format("{}({}): {}: {}\n", facts.target,
                               operators::arguments_text(facts.arguments),
                               operators::name_of(lookup.miss.kind), lookup.miss.reason);
  return found ? kDone : kCheckFailed;
}

using Deed = std::function<int(const Caches& caches, bool json, const Console& console)>;

int with_caches(const Deed& deed, bool json, const Console& console) {
  auto options = cache::default_store_options();
  if (!options) return console.report_error(options.diagnostics());
  return deed({cache::Store(*options), operators::OperatorStore(*options)}, json, console);
}

// Adds a subcommand; the caller adds further options and the footer.
CLI::App& add_deed(CLI::App& cache, Action& chosen, const char* name, const char* what,
                   const Deed& deed) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command = *cache.add_subcommand(name, what);
  command.add_flag("--json", *json, "Print one JSON value instead of the text");
  const std::string example = fmt::format("cache {}", name);
  command.footer(footer_with_examples("", {example, example + " --json"}));
  command.callback([deed, json, &chosen] {
    chosen = [deed, json](const Console& console) { return with_caches(deed, *json, console); };
  });
  return command;
}

void add_list(CLI::App& cache, Action& chosen) {
  auto call = std::make_shared<OperatorArguments>();
  CLI::App& command =
      add_deed(cache, chosen, "list", "List the entries and their sizes, or look an operator up",
               [call](const Caches& caches, bool json, const Console& console) {
                 if (!call->name.empty()) return explain(*call, caches, json, console);
                 if (call->inputs.empty() && call->settings.empty())
                   return list(caches, json, console);
                 return console.report_error(
                     {error("--inputs and --set are of one call, expected its --operator, too")});
               });
  command
      .add_option("--operator", call->name,
                  "Look this operator up instead, with --inputs and --set as in compile-op. "
                  "Exit code 1 if it isn't kept; the text says why")
      ->type_name("OP");
  call->add_to(command);
  command.footer(footer_with_examples(kArgumentGrammar, {"cache list", "cache list --json"}));
}

}  // namespace

void add_cache(CLI::App& app, Action& chosen) {
  CLI::App& command = *app.add_subcommand(
      "cache", "List, verify or clear the compiled steps, operators and libraries that are kept");
  command.require_subcommand(1);
  add_list(command, chosen);
  add_deed(command, chosen, "verify", "Check every entry. Exit code 1 if one is unusable", verify);
  add_deed(command, chosen, "clear", "Remove all entries", clear);
  command.footer(footer_with_examples(
      "The directory is RECUT_CACHE_DIR, or recut in XDG_CACHE_HOME, or ~/.cache/recut. Steps take "
      "at most RECUT_CACHE_LIMIT (default: 2GiB), and so do operators; the least recently used "
      "ones go first. Libraries of recut compile stay until they are cleared. JSON beside each "
      "entry describes it.",
      {"cache list", "cache verify"}));
}

}  // namespace recut::native
