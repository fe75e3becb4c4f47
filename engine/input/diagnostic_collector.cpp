#include "engine/input/diagnostic_collector.h"

#include <fmt/core.h>

namespace recut {

void DiagnosticCollector::add(std::string message, JsonValue where, std::size_t limit) {
  if (shown_.size() >= limit) {
    ++more_;
    return;
  }
  Diagnostic& added = shown_.emplace_back(Diagnostic{std::move(message), std::string(file_), 0, 0});
  if (!where.present()) return;
  const LineColumn location = line_column_of(text_, where.position());
  added.line = location.line;
  added.column = location.column;
}

Diagnostics DiagnosticCollector::take() {
  if (more_ > 0) shown_.push_back({fmt::format("and {} more", more_), std::string(file_), 0, 0});
  more_ = 0;
  return std::move(shown_);
}

}  // namespace recut
