// Where nodes come from and what they are called, kept once for all graphs of a pool: a graph that
// takes a node over from another one copies a number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/support/ids.h"

namespace recut {

// Where a node comes from.
struct Origin {
  std::string name;    // unique in its graph: the file's own name
  std::string module;  // nn.Module path, "" where none
  std::int64_t seq_nr =
      -1;  // autograd's sequence number: forward and backward partners share it; -1 where none
  // The line of Python that called it, "net.py:12 in forward: y = self.act(x)"; "" where none. The
  // text form leaves it out.
  std::string source = {};
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
  NameId find_name(std::string_view text) const;  // invalid: nobody has used it yet

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
