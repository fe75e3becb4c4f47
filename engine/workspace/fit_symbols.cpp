// The symbols of a fit, and its result as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/workspace/fit.h"
#include "engine/workspace/json_text.h"

namespace recut {

Result<std::vector<BoundSymbol>> symbols_to_fit(const GraphFile& file,
                                                const std::vector<std::string>& names) {
  std::vector<BoundSymbol> found;
  std::vector<std::string> known;
  for (const BoundSymbol& bound : file.symbols) known.push_back(bound.name);
  for (const std::string& name : names) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end())
      return error(known.empty()
                       ? fmt::format("{}: the sizes of this graph are all fixed", name)
                       : fmt::format("{}: no size of this graph has that symbol; found: {}", name,
                                     fmt::join(known, ", ")));
    found.push_back(file.symbols[static_cast<std::size_t>(it - known.begin())]);
  }
  return found;
}

Result<Done> bound_by(const std::vector<BoundSymbol>& symbols, FitRequest& request) {
  std::vector<std::string> names;
  for (const BoundSymbol& symbol : symbols) {
    if (names.empty()) request.start = symbol.size;
    names.push_back(symbol.name);
    request.min_size = std::max(request.min_size, symbol.min.value_or(1));
    request.max_size = std::min(request.max_size, symbol.max.value_or(request.max_size));
  }
  if (request.max_size >= request.min_size) return Done{};
  return error(fmt::format("{}: sizes of {} begin at {}", request.max_size, fmt::join(names, " = "),
                           request.min_size));
}

std::string fit_json(const std::vector<std::string>& symbols, const Fit& fit,
                     std::int64_t budget_bytes) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array();
  for (const auto& [size, point] : fit.tried) {
    points.push_back({{"size", size},
                      {"holds", point.holds},
                      {"peak_bytes", point.peak_bytes},
                      {"step_us", point.step_us},
                      {"recompute_us", point.recompute_us},
                      {"us_per_unit", point.step_us / static_cast<double>(size)}});
  }
  return json_text(Json{
      {"symbols", symbols}, {"budget_bytes", budget_bytes}, {"size", fit.size}, {"tried", points}});
}

}  // namespace recut
