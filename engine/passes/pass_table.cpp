#include "engine/passes/pass_table.h"

#include "engine/passes/freezing.h"

namespace recut {
namespace passes {

#define RECUT_PASS(name, description) PassResult name(const Graph& graph);
#define RECUT_LEGALIZING_PASS(name, description) RECUT_PASS(name, description)
#define RECUT_OPT_IN_PASS(name, description) RECUT_PASS(name, description)
#define RECUT_INEXACT_PASS(name, description) RECUT_PASS(name, description)
#include "engine/passes/passes.def"
#undef RECUT_INEXACT_PASS
#undef RECUT_OPT_IN_PASS
#undef RECUT_LEGALIZING_PASS
#undef RECUT_PASS

}  // namespace passes

std::span<const Pass> all_passes() {
  static const Pass kPasses[] = {
#define RECUT_PASS(name, description) {#name, description, passes::name, true, true},
#define RECUT_LEGALIZING_PASS(name, description) {#name, description, passes::name, true, false},
#define RECUT_OPT_IN_PASS(name, description) {#name, description, passes::name, false, true},
#define RECUT_INEXACT_PASS(name, description) {#name, description, passes::name, false, false},
#include "engine/passes/passes.def"
#undef RECUT_INEXACT_PASS
#undef RECUT_OPT_IN_PASS
#undef RECUT_LEGALIZING_PASS
#undef RECUT_PASS
  };
  return kPasses;
}

const Pass* find_pass(std::string_view name) {
  for (const auto& table : {all_passes(), freezing_passes()})
    for (const Pass& pass : table)
      if (pass.name == name) return &pass;
  return nullptr;
}

std::string_view current_pass_name(std::string_view name) {
  static constexpr std::string_view kFormer[][2] = {
#define RECUT_FORMER_PASS_NAME(former, current) {#former, #current},
#include "engine/passes/former_names.def"
#undef RECUT_FORMER_PASS_NAME
  };
  for (const auto& [former, current] : kFormer)
    if (name == former) return current;
  return name;
}

}  // namespace recut
