// The bundled trade-off curves: they read back as written, and planning still finds them.
#include "engine/workspace/curve_export.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/bytes.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/sweep_document.h"
#include "tests/paths.h"

namespace recut {
namespace {

void check_same(const std::vector<CurvePoint>& found, const std::vector<CurvePoint>& wanted,
                bool torch) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].fusion == wanted[i].fusion);
    if (!torch) CHECK(found[i].budget_bytes == wanted[i].budget_bytes);  // else a fraction is
    CHECK(found[i].peak_bytes == wanted[i].peak_bytes);
    CHECK(found[i].saved_bytes == wanted[i].saved_bytes);
    CHECK(found[i].step_us == wanted[i].step_us);
    CHECK(found[i].recompute_us == wanted[i].recompute_us);
    CHECK(found[i].recomputed_runs == wanted[i].recomputed_runs);
    CHECK(found[i].recompute_bound_us == wanted[i].recompute_bound_us);
    CHECK(found[i].optimal == wanted[i].optimal);
    CHECK(found[i].fraction == wanted[i].fraction);
  }
}

}  // namespace

// A failure means that planning has changed:
//   recut sweep samples/joint/NAME.json.gz --json > samples/curves/NAME.json
TEST_CASE("curves that come with the program are those that planning finds", "[workspace]") {
  int curves = 0;
  for (const auto& file : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples/curves")) {
    const std::string name = file.path().stem().string();
    CAPTURE(name);
    const auto text = read_file(file.path().string());
    REQUIRE(text.ok());
    const CurveReport kept = parse_curve_json(*text);
    CHECK(curve_json(kept) == *text);
    const auto document =
        open_document(RECUT_SOURCE_DIR "/samples/joint/" + name + ".json.gz", OpenOptions());
    REQUIRE(document.ok());
    const auto curve = sweep_document(*document, CurveRequest());
    REQUIRE(curve.ok());
    const CurveReport& found = curve->report;
    CHECK(kept.model == found.model);
    CHECK(kept.nodes == found.nodes);
    CHECK(kept.peak_bound_bytes == found.peak_bound_bytes);
    CHECK(kept.baseline_peak_bytes == found.baseline_peak_bytes);
    CHECK(kept.baseline_step_us == found.baseline_step_us);
    CHECK(kept.once_us == found.once_us);
    CHECK(kept.complete);
    CHECK(kept.torch_recorded == found.torch_recorded);
    check_same(kept.points, found.points, false);
    check_same(kept.torch, found.torch, true);
    ++curves;
  }
  CHECK(curves >= 1);
}

}  // namespace recut
