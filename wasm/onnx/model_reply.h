// The answer of the ONNX reader's program to the page's program, as bytes.
#pragma once

#include <string>

#include "gui/jobs/pack.h"

namespace recut::page {

struct ReadModel {
  std::string text;     // the graph in Recut's text form
  std::string tensors;  // its values, as safetensors
};

template <class Pack>
void fields(Pack& pack, ReadModel& model) {
  pack(model.text, model.tensors);
}

}  // namespace recut::page
