// Unique names for printing a kernel's parts, made from their own names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Buffers, loop variables, values and accumulators share one namespace. A part without a name gets
// a number; a part whose name is taken gets that name with a number appended.
class Names {
 public:
  explicit Names(const Kernel& kernel);

  // The name with a leading %, in quotes if it isn't an identifier. An id that the kernel lacks
  // gives "%?".
  const std::string& of(BufferId id) const { return look_up(buffers_, id.index); }
  const std::string& of(LoopId id) const { return look_up(loops_, id.index); }
  const std::string& of(ValueId id) const { return look_up(values_, id.index); }
  const std::string& of(AccumulatorId id) const { return look_up(accumulators_, id.index); }

 private:
  template <class Parts>
  std::vector<std::string> name_all(const Parts& parts);
  std::string make_unique_name(const std::string& hint);
  static const std::string& look_up(const std::vector<std::string>& names, std::uint32_t index);

  std::set<std::string> taken_;
  std::map<std::string, int> next_;
  int next_number_ = 0;
  std::vector<std::string> buffers_, loops_, values_, accumulators_;
};

std::string format(const Index& index, const Names& names);

}  // namespace recut::loop
