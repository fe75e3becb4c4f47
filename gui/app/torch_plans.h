// PyTorch's plans of a document, by the prices and kernels of the document's own plans: one place
// for all comparisons of the two.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// One that was asked for.
struct TorchPlan {
  SharedPlanView plan;  // null while it is made, and where it can't be
  Diagnostics faults;   // why it can't
  JobId making = 0;
};
// PyTorch's plans of a document by fraction (or kRecordedTorch), device and model.
using TorchPlans = std::map<std::string, TorchPlan>;
inline constexpr std::string_view kTorchMemory = "torch";

// PyTorch's budget as users write it, "0.50" or "recorded", as it is kept: "0.5". Fails where it is
// none.
Result<std::string> torch_fraction(const std::string& text);
// PyTorch's default.
inline constexpr std::string_view kUsualTorch = "1";
// In place of a fraction: the partition that PyTorch made, as the file has it.
inline constexpr std::string_view kRecordedTorch = "recorded";
bool has_recorded_torch(const DocumentView& document);

// Null before it is requested, while it is made, and if that failed.
SharedPlanView torch_plan(const DocumentView& document, const std::string& fraction);
// True if it must be requested: it isn't there, nor at work, nor known to be impossible.
bool wants_torch_plan(const App& app, const DocumentView& document, const std::string& fraction);

// The reason why PyTorch's plan can't be made; "" if none is known.
std::string torch_fault(const DocumentView& document, const std::string& fraction);
bool makes_torch_plan(const App& app, const DocumentView& document);  // whichever

// Makes PyTorch's plan, by a job as slow as its strategy, and hands it on, at once if there is one
// already.
using TakeTorch = std::function<void(DocumentView&, const SharedPlanView&)>;
void prepare_torch_plan(App& app, DocumentView& document, const std::string& fraction,
                        const TakeTorch& take = {});

// Makes a baseline of PyTorch's again after a change of device or cost model.
void renew_torch_baseline(App& app, DocumentView& document);

}  // namespace recut::gui
