// Where a node of an exported program is from: its module, and its line of Python.
#pragma once

#include <string>
#include <string_view>

namespace recut {

// The module's path in "key,path,type;key,path,type" (nn_module_stack): of the innermost module.
std::string_view innermost_module(std::string_view stack);

// "net.py:12 in forward: y = self.act(x)" of the last frame in a file of a Python traceback
// (stack_trace); "" if there is none.
std::string innermost_source(std::string_view trace);

}  // namespace recut
