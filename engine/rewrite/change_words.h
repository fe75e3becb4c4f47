// The text of one change of a pass: "%y = add.Scalar(%x, -0.0) : f32[4]  =>  %x". It is printed on
// demand: passes make thousands of changes, and few are looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

class ChangeWords {
 public:
  // A node printed as a call, or by its name alone.
  struct Part {
    NodeId node;
    bool whole = true;
  };

  ChangeWords() = default;
  ChangeWords(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit, for few changes

  // A null `after` means that the nodes of `before` were removed.
  ChangeWords(std::shared_ptr<const Graph> before, std::vector<NodeId> was,
              std::shared_ptr<const Graph> after, std::vector<Part> is)
      : before_(std::move(before)),
        was_(std::move(was)),
        after_(std::move(after)),
        is_(std::move(is)) {}

  std::string text() const;

 private:
  std::string text_;  // if there are no graphs
  std::shared_ptr<const Graph> before_;
  std::vector<NodeId> was_;
  std::shared_ptr<const Graph> after_;
  std::vector<Part> is_;
};

}  // namespace recut
