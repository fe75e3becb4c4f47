// Dragging the budget: what a frame costs while every frame asks for another budget, whether the
// plan that is shown ever peaks above it, and whether what stands at rest is the plan that `recut
// plan` makes. All panels draw; the backend is null, so that this is the window's own code. Times
// are of the frame's thread alone: planning goes on beside it.
//
// usage: bench_drag_bench FILE…
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "engine/support/table.h"
#include "engine/workspace/planning.h"
#include "gui/app/app.h"
#include "gui/backend/null_backend.h"

namespace {

using namespace recut;
using namespace recut::gui;

constexpr int kFrames = 600;

double thread_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

// A backend whose window plans on threads, although nobody sees it.
class Threaded : public NullBackend {
 public:
  bool has_threads() const override { return true; }
  void wake() override {}  // from the workers; nobody counts
};

struct Drag {
  std::vector<double> frames;  // ms
  int above = 0;               // frames with a plan above the budget, though one within it exists
  bool same = false;           // at rest, as the command plans
};

class Bench {
 public:
  explicit Bench(const std::string& path) : app_(backend_, options()) {
    app_.open(path);
    rest();
  }
  bool ready() const { return app_.has_ready(); }
  std::size_t nodes() { return app_.document()->graph().order().size(); }

  // Drags from nine tenths of the peak without recomputation to four and back, three times.
  Drag drag() {
    Drag drag;
    const auto whole = static_cast<double>(app_.document()->basis->baseline_cost.peak_bytes);
    for (int i = 0; i < kFrames; ++i) {
      const double distance = 6.0 * i / kFrames,
                   turn = distance - 2.0 * static_cast<int>(distance / 2);
      const double share = 0.9 - 0.5 * (turn < 1 ? turn : 2 - turn);
      const auto budget = static_cast<std::int64_t>(share * whole);
      const double start = thread_ms();
      if (!app_.run("budget.set", std::to_string(budget))) return drag;
      backend_.pass(1.0 / 60);
      app_.tick();
      drag.frames.push_back(thread_ms() - start);
      const DocumentView& view = *app_.document();
      drag.above += !view.holds() && view.known.best_within(budget) ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    rest();
    drag.same = is_planned_anew();
    std::sort(drag.frames.begin(), drag.frames.end());
    return drag;
  }

 private:
  static AppOptions options() {
    AppOptions options;
    options.restore = options.remember = options.welcome = false;
    return options;
  }

  void rest() {
    while (!app_.idle() || !app_.settled()) {
      backend_.pass(1.0 / 60);
      if (!app_.tick()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  bool is_planned_anew() {
    const DocumentView& view = *app_.document();
    const auto planned = plan_document(*view.document, request_of(view.plan_settings));
    const Plan& shown = view.shown->planned.plan;
    return planned && planned->plan.forward == shown.forward &&
           planned->plan.saved == shown.saved && planned->plan.backward == shown.backward;
  }

  Threaded backend_;
  App app_;
};

}  // namespace

int main(int argc, char** argv) {
  Table table;
  table.column("graph");
  for (const char* title :
       {"nodes", "frames", "median ms", "95 % within ms", "slowest ms", "above the budget"})
    table.column(title, Table::Align::right);
  table.column("at rest as recut plan");
  for (int i = 1; i < argc; ++i) {
    Bench bench(argv[i]);
    if (!bench.ready()) return fmt::print(stderr, "{}: can't be opened\n", argv[i]), 2;
    const Drag drag = bench.drag();
    const auto at = [&](double share) {
      return fmt::format("{:.2f}", drag.frames[static_cast<std::size_t>(
                                       share * static_cast<double>(drag.frames.size() - 1))]);
    };
    table.row({std::filesystem::path(argv[i]).filename().string(), std::to_string(bench.nodes()),
               std::to_string(drag.frames.size()), at(0.5), at(0.95), at(1),
               std::to_string(drag.above), drag.same ? "yes" : "NO"});
  }
  fmt::print("{}", table.format(0));
  return 0;
}
