// Transforms of a file's graph before it is planned for: derivatives of a forward one or its
// freezing, the passes that run, the user's own rules, a mesh. A part of the plan settings: undone, saved and sent along in
// links as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/dimensions.h"
#include "engine/workspace/document.h"
#include "gui/model/loose_json.h"
#include "gui/model/mesh_settings.h"

namespace recut::gui {

// A file of rules as it was read: small enough to be kept whole, so that it needn't be found again.
struct RuleFile {
  std::string path;
  std::string text;
  bool operator==(const RuleFile& o) const { return path == o.path && text == o.text; }
};
inline constexpr std::size_t kMaxRuleBytes = 256 << 10;
// True for a file name such as "my.rules".
bool is_rules_name(std::string_view path);

// An optimiser by its name (workspace/training.h) that is to be a part of the step.
struct OptimizerSettings {
  std::string name = "adam";
  double learning_rate = 1e-3;
  bool operator==(const OptimizerSettings& o) const {
    return name == o.name && learning_rate == o.learning_rate;
  }
};
inline constexpr double kMaxLearningRate = 100;
// Fails where there is no such optimiser, or the rate isn't above 0 and at most the most; words:
// "0.01", or none for the optimiser's own.
Result<OptimizerSettings> read_optimizer(std::string_view name, std::string_view rate);

struct TransformSettings {
  std::optional<GradMode> differentiate;       // of a forward graph; a joint one is as it is
  std::optional<OptimizerSettings> optimizer;  // then it is differentiated, too, in reverse mode
  bool freeze = false;                         // a forward graph; excludes both of these
  std::vector<Stage> stages;                   // whose passes run, in this order; none: joint
  std::vector<std::string> on;                 // passes that don't run by themselves
  std::vector<std::string> off;                // default passes that don't run; `rules`, too
  // The pass `rules`. Rules for operators that Recut lacks run as the graph is read.
  std::optional<RuleFile> rules;
  Dimensions dimensions;             // sizes of a model's open dimensions
  std::string graph;                 // key of the file's graph; "": the file's first choice
  std::optional<MeshSettings> mesh;  // that the graph is spread over after its passes

  bool operator==(const TransformSettings& o) const {
    return differentiate == o.differentiate && optimizer == o.optimizer && freeze == o.freeze &&
           stages == o.stages && on == o.on && off == o.off && rules == o.rules &&
           dimensions == o.dimensions && graph == o.graph && mesh == o.mesh;
  }
  // True if the pass runs where `usual` ones do by themselves.
  bool runs(std::string_view pass, const std::vector<std::string>& usual) const;
  void switch_pass(std::string_view pass, const std::vector<std::string>& usual);
  // The stages that run, without that of freezing. The usual one alone is none.
  std::vector<Stage> chosen_stages() const;
  void set_stages(std::vector<Stage> wanted);
  // Switches freezing on, and derivatives off; the other way round.
  void set_freeze(bool on);
  void set_differentiate(std::optional<GradMode> mode);
  void set_optimizer(std::optional<OptimizerSettings> choice);
  // Links and documents saved before may have former names of passes.
  void use_current_pass_names();
};

// The transform settings as the engine's options; names of passes that no longer exist are skipped.
// The mesh is no part of them (jobs/opening.h). Fails where the rules are none, with their places.
Result<OpenOptions> options_of(const TransformSettings& transforms);

Json json_of(const TransformSettings& transforms);
// Damaged parts are left out, and so are rules that can't be read.
TransformSettings transform_settings_of(const Json& json);

}  // namespace recut::gui
