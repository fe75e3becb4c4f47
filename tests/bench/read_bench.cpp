// How long reading a graph takes: the file, gzip, JSON, building, inferring types, verifying.
//
// usage: bench_read_bench FILE…
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/verifier.h"
#include "engine/support/table.h"
#include "engine/support/units.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Timing {
  double read_ms = 0;
  double verify_ms = 0;
  std::size_t nodes = 0;
};

// One reading; `failure` says why there is none.
Timing read_once(const std::string& path, std::string_view key, std::string& failure) {
  Timing timing;
  const auto start = Clock::now();
  const auto file = recut::read_graph_file(path, key);
  timing.read_ms = milliseconds_since(start);
  if (!file) {
    failure = recut::format(file.diagnostics().front());
    return timing;
  }
  const auto verifying = Clock::now();
  if (!recut::verify(file->graph).empty()) failure = path + ": the graph is unsound";
  timing.verify_ms = milliseconds_since(verifying);
  timing.nodes = file->graph.order().size();
  return timing;
}

// The median of five by total time.
Timing read_often(const std::string& path, std::string_view key, std::string& failure) {
  std::vector<Timing> timings;
  for (int i = 0; i < 5 && failure.empty(); ++i) timings.push_back(read_once(path, key, failure));
  std::sort(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) {
    return a.read_ms + a.verify_ms < b.read_ms + b.verify_ms;
  });
  return timings[timings.size() / 2];
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(start, path.find('.', start) - start);
}

}  // namespace

int main(int argc, char** argv) {
  recut::Table table;
  table.column("graph");
  table.column("key");
  for (const char* title : {"nodes", "read", "verify", "together"})
    table.column(title, recut::Table::Align::right);
  for (int i = 1; i < argc; ++i) {
    for (const char* key : {"joint", "joint_after_passes"}) {
      std::string failure;
      const Timing timing = read_often(argv[i], key, failure);
      if (!failure.empty()) {
        fmt::print(stderr, "{}\n", failure);
        return 1;
      }
      const auto words = [](double ms) { return recut::format_micros(ms * 1000); };
      table.row({base_name(argv[i]), key,
                 recut::format_count(static_cast<std::int64_t>(timing.nodes)),
                 words(timing.read_ms), words(timing.verify_ms),
                 words(timing.read_ms + timing.verify_ms)});
    }
  }
  fmt::print("{}", table.format(0));
  return 0;
}
