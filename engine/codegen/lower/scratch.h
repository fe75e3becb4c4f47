// A scratch buffer of scalars; the caller computes the offsets.
#pragma once

#include <string>

#include "engine/codegen/lower/scalar_expr.h"

namespace recut::loop {

class Scratch {
 public:
  Scratch(Builder& builder, std::string name, DType type, std::int64_t elements)
      : builder_(&builder),
        buffer_(builder.add_buffer({std::move(name), type, elements, Access::scratch})) {}

  ScalarExpr read(const Index& at) const { return {builder_, builder_->load(buffer_, at)}; }
  void write(const Index& at, const ScalarExpr& value) const {
    builder_->store(buffer_, at, value.id());
  }

 private:
  Builder* builder_;
  BufferId buffer_;
};

}  // namespace recut::loop
