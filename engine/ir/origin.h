// Source locations and names of nodes, stored once for all graphs of a pool: carrying a node to
// another graph copies one id.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/support/ids.h"

namespace recut {

// The policy of torch.utils.checkpoint for a call (PyTorch's CheckpointPolicy): whether backward
// reads the values that forward made, or has the call run again.
enum class CheckpointPolicy : std::uint8_t {
  none,
  must_save,
  prefer_save,
  prefer_recompute,
  must_recompute
};

// The name of a policy, "MUST_SAVE"; "" for none.
std::string_view name_of(CheckpointPolicy policy);
// The policy of "MUST_SAVE" or "CheckpointPolicy.MUST_SAVE"; empty for any other text.
std::optional<CheckpointPolicy> find_checkpoint_policy(std::string_view text);

// The origin of a node in the user's program.
struct Origin {
  std::string name;    // unique in its graph: the file's own name
  std::string module;  // nn.Module path, "" where none
  std::int64_t seq_nr =
      -1;  // autograd's sequence number: forward and backward partners share it; -1 where none
  // The line of Python that called it, "net.py:12 in forward: y = self.act(x)"; "" where none. The
  // text form leaves it out.
  std::string source = {};
  CheckpointPolicy policy = CheckpointPolicy::none;
  // The number of the checkpointed region, as PyTorch's ac_graph_id: later regions have larger
  // ones; -1 where the call is in none.
  std::int64_t checkpoint_region = -1;
};

// "m.layer1.0" of "L['s'].m.layer1.0", "s" of "L['s']": paths of torch.compile begin with the name
// of a local variable, which says nothing.
std::string_view short_module(std::string_view module);

using NameId = Id<struct NameTag>;
using OriginId = Id<struct OriginTag>;

class OriginTable {
 public:
  OriginId add(Origin origin);
  const Origin& operator[](OriginId id) const { return rows_[id.index].origin; }
  NameId name_of(OriginId id) const { return rows_[id.index].name; }

  NameId name(std::string_view text);             // the number of a name, a new one where needed
  NameId find_name(std::string_view text) const;  // invalid if the name is new

 private:
  struct Row {
    Origin origin;
    NameId name;
  };
  std::deque<Row> rows_;
  std::deque<std::string> texts_;                         // by name; they never move
  std::unordered_map<std::string_view, NameId> by_text_;  // looked up only, never walked
};

}  // namespace recut
