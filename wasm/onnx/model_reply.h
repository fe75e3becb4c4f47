// What the reader of ONNX models answers: from its program to the page's, as bytes.
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
