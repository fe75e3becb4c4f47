// What a pass did at one place, in words: "%y = add.Scalar(%x, -0.0) : f32[4]  =>  %x". Put
// together when somebody asks: passes make thousands of changes, and hardly any is looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

class ChangeWords {
 public:
  // A node as a whole, or only named.
  struct Part {
    NodeId node;
    bool whole = true;
  };

  ChangeWords() = default;
  ChangeWords(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit, for few changes

  // `after` empty: nodes of `before` are gone.
  ChangeWords(std::shared_ptr<const Graph> before, std::vector<NodeId> was,
              std::shared_ptr<const Graph> after, std::vector<Part> is)
      : before_(std::move(before)),
        was_(std::move(was)),
        after_(std::move(after)),
        is_(std::move(is)) {}

  std::string text() const;

 private:
  std::string text_;  // where there are no graphs
  std::shared_ptr<const Graph> before_;
  std::vector<NodeId> was_;
  std::shared_ptr<const Graph> after_;
  std::vector<Part> is_;
};

}  // namespace recut
