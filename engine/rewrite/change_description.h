// The text of one change of a pass: "%y = add.Scalar(%x, -0.0) : f32[4]  =>  %x". It is printed on
// demand: passes make thousands of changes, and few are looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

class ChangeDescription {
 public:
  // A node printed as a call, or by its name alone.
  struct Part {
    NodeId node;
    bool whole = true;
  };

  ChangeDescription() = default;
  ChangeDescription(std::string text)
      : text_(std::move(text)) {}  // NOLINT: implicit, for few changes

  // A null `after` means that the nodes of `before` were removed.
  ChangeDescription(std::shared_ptr<const Graph> before, std::vector<NodeId> old_nodes,
                    std::shared_ptr<const Graph> after, std::vector<Part> new_nodes)
      : before_(std::move(before)),
        old_nodes_(std::move(old_nodes)),
        after_(std::move(after)),
        new_nodes_(std::move(new_nodes)) {}

  std::string text() const;

 private:
  std::string text_;  // if there are no graphs
  std::shared_ptr<const Graph> before_;
  std::vector<NodeId> old_nodes_;
  std::shared_ptr<const Graph> after_;
  std::vector<Part> new_nodes_;
};

}  // namespace recut
