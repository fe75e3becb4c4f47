// The lines of a function in TorchScript's IR: names, constants before their first use, and calls.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/type.h"

namespace recut {

// "Float(2, 3, strides=[3, 1])"; "Tensor" for a dtype that TorchScript lacks.
std::string script_type(const TensorType& type);

// The number of a dtype as an argument (c10::ScalarType); below 0 where TorchScript lacks it.
int script_dtype_number(DType dtype);

class ScriptBody {
 public:
  // A name made of the text, which no other has and no word of TorchScript's is.
  std::string new_name(const std::string& text);

  // Constants, each written once.
  std::string none() { return constant("NoneType", ""); }
  std::string integer(std::int64_t number);
  std::string boolean(bool truth) { return constant("bool", truth ? "1" : "0"); }
  std::string text(const std::string& type, std::string_view value);
  std::string real(double number);
  std::string integers(const std::vector<std::int64_t>& numbers);  // a list of them

  // An unnamed call with one value, and that value's name.
  std::string made(const std::string& type, const std::string& op,
                   const std::vector<std::string>& operands);

  // A name for a value that nothing in the file names, "%7".
  std::string number() { return "%" + std::to_string(++numbered_); }

  // A call with values that are declared already, "%y : Float(2)".
  void add(const std::vector<std::string>& values, const std::string& op,
           const std::vector<std::string>& operands);

  const std::string& lines() const { return lines_; }

 private:
  std::string constant(const std::string& type, const std::string& attribute);

  std::string lines_;
  int numbered_ = 0;
  std::set<std::string> taken_;
  std::map<std::pair<std::string, std::string>, std::string> constants_;
};

}  // namespace recut
