// recut_fit: the largest size of a symbol whose plan holds a budget.
#include <fmt/core.h>

#include <string_view>

#include "engine/support/units.h"
#include "engine/workspace/fit.h"
#include "engine/workspace/open_document.h"
#include "native/c_api/attempt.h"
#include "native/c_api/options.h"
#include "native/c_api/watcher.h"

namespace {

using recut::Document;
using recut::Result;
using recut::c_api::attempt;
using recut::c_api::fail;
using recut::c_api::FitOptions;
using recut::c_api::give_text;
using recut::c_api::Watcher;

Result<Document> open_size(std::string_view bytes, const std::string& name,
                           const FitOptions& options, std::int64_t size) {
  recut::OpenOptions open = options.open;
  for (const std::string& symbol : options.symbols) open.sizes.insert_or_assign(symbol, size);
  auto document = recut::open_document_bytes(bytes, name, open);
  if (!document) return document;
  if (const auto joint = recut::check_joint(*document, name); !joint) return joint.diagnostics();
  return document;
}

recut_status find_fit(std::string_view bytes, const std::string& name, const char* options_json,
                      Watcher& watcher, char** json, char** error) {
  auto options = recut::c_api::read_fit_options(options_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  const auto traced = recut::open_document_bytes(bytes, name, options->open);
  if (!traced) return fail(RECUT_BAD_INPUT, traced.diagnostics(), error);
  const auto symbols = recut::symbols_to_fit(traced->file, options->symbols);
  if (!symbols) return fail(RECUT_BAD_OPTION, symbols.diagnostics(), error);
  recut::FitRequest request;
  request.max_size = options->max_size;
  if (const auto bounded = recut::bound_by(*symbols, request); !bounded)
    return fail(RECUT_BAD_OPTION, bounded.diagnostics(), error);
  request.planning = options->planning;
  if (watcher.has_cancelled())
    request.planning.limits.stop = [&watcher] { return watcher.should_stop(); };
  request.progress = [&watcher](std::int64_t size) {
    if (watcher.has_progress())
      watcher.report_progress(Watcher::kUnknown, fmt::format("planning size {}", size));
  };
  request.open = [&](std::int64_t size) -> Result<Document> {
    if (watcher.stop_now()) return recut::error("cancelled");
    return open_size(bytes, name, *options, size);
  };
  const auto found = recut::fit_size(request);
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  if (!found) return fail(RECUT_BAD_INPUT, found.diagnostics(), error);
  const recut_status given =
      give_text(recut::fit_json(options->symbols, *found, options->budget_bytes), json);
  if (given != RECUT_OK || found->size > 0) return given;
  return fail(RECUT_NOT_HELD,
              fmt::format("no size was found whose plan holds {}",
                          recut::format_bytes(options->budget_bytes)),
              error);
}

}  // namespace

recut_status recut_fit(const void* bytes, size_t size, const char* name, const char* options_json,
                       const recut_callbacks* callbacks, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    Watcher watcher(callbacks);
    return find_fit({static_cast<const char*>(bytes), bytes != nullptr ? size : 0},
                    name != nullptr ? name : "graph", options_json, watcher, json, error);
  });
}
