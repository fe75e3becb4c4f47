// TORCH_TRACE files (dedicated_log_torch_trace_*.log): the graphs and symbols that they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/printed_sources.h"
#include "engine/input/symbols.h"

namespace recut {

// A record is one line, a log's prefix and a JSON object, and its payload: lines that begin with a
// tab. Only records of graphs and symbols are read; no payload is copied.
struct TorchTrace {
  std::vector<PrintedSource> graphs;  // in the order of the file
  std::size_t records = 0;
  std::size_t damaged = 0;  // records whose object is no JSON, as where a process was killed

  // Symbols by compile id: a graph's own; symbols that it lacks are taken from other compilations.
  std::map<std::string, std::map<std::string, Symbol, std::less<>>, std::less<>> symbols;
  std::map<std::string, Symbol, std::less<>> symbols_of(std::string_view compile_id) const;
};

// True if the text has a record among its first lines.
bool looks_like_torch_trace(std::string_view text);

TorchTrace read_torch_trace(std::string_view text);

}  // namespace recut
