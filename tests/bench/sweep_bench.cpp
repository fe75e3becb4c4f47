// Curves of 50 points: is a larger budget never more expensive, and how long do they take?
//
// usage: bench_sweep_bench FILE…     joint graphs (.json.gz)
// One line a graph; exit code 1 where a curve isn't monotone. Times are processor time.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>

#include "engine/workspace/curve.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/sweep_document.h"

namespace recut {
namespace {

double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool monotone(const std::vector<CurvePoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].budget_bytes <= points[i - 1].budget_bytes ||
        points[i].step_us > points[i - 1].step_us)
      return false;
  return true;
}

// Ours over PyTorch's recomputation at the same peak, in the geometric mean over its points; a
// point that takes none counts as a thousandth.
double against_torch(const CurveReport& report) {
  double sum = 0;
  int count = 0;
  for (const CurvePoint& theirs : report.torch) {
    const CurvePoint* ours = report.cheapest_within(theirs.peak_bytes);
    if (theirs.recompute_us < 1 || ours == nullptr) continue;
    sum += std::log(std::max(1e-3, ours->recompute_us / theirs.recompute_us));
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

bool bench(const std::string& path) {
  OpenOptions options;
  options.graph_key = "joint_after_passes";
  const auto document = open_document(path, options);
  if (!document) {
    fmt::print("{}", format(document.diagnostics()));
    return true;
  }
  const double began = processor_ms();
  double first = 0;
  std::size_t shown = 0;
  CurveRequest request;
  request.on_curve = [&](const Curve&) {
    if (shown++ == 0) first = processor_ms() - began;
  };
  const auto curve = sweep_document(*document, request);
  if (!curve) {
    fmt::print("{}", format(curve.diagnostics()));
    return true;
  }
  const CurveReport& r = curve->report;
  const double taken = processor_ms() - began;
  fmt::print("{:22} {:6} {:7} {:>9} {:9.0f} {:9.0f} {:9.0f} {:9.3f} {:9.3f}\n",
             std::filesystem::path(path).filename().string(), r.nodes, r.points.size(),
             monotone(r.points) ? "yes" : "NO", first, r.first_ms, taken,
             static_cast<double>(r.points.front().peak_bytes) /
                 static_cast<double>(std::max<std::int64_t>(1, r.peak_bound_bytes)),
             against_torch(r));
  return monotone(r.points);
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: {} FILE...\n", argv[0]);
    return 2;
  }
  fmt::print("{:22} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "nodes", "points",
             "monotone", "first ms", "coarse ms", "all ms", "least/bnd", "of torch");
  bool good = true;
  for (int i = 1; i < argc; ++i) {
    good = recut::bench(argv[i]) && good;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}
