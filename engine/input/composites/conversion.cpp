// Composites that change the dtype or the layout of a tensor, or nothing.
#include "engine/input/composite_operators.h"

namespace recut {
namespace {

Value self_of(Builder& b, const Call& call) { return b.value(call.node("self")); }

// to.*: the tensor itself where it has the dtype, the device and the format, else a copy. Values on
// other devices than the graph's have their device's name; the graph's own has none.
Value to_type(Builder& b, const Call& call, std::optional<DType> dtype, std::string_view device) {
  const Value self = self_of(b, call);
  const std::string_view format = call.text("memory_format");
  const bool same_format =
      format.empty() || format.find("preserve") != std::string_view::npos ||
      (format.find("contiguous") != std::string_view::npos && is_contiguous(self.type()));
  std::string_view own = self.type().device.empty() ? b.graph().device : self.type().device;
  if (own.ends_with(":0")) own.remove_suffix(2);
  if (device.ends_with(":0")) device.remove_suffix(2);
  const bool same_device = device.empty() || device == own;
  const bool same_type = !dtype || *dtype == self.dtype();
  if (same_type && same_device && same_format && !call.boolean("copy")) return self;
  Keywords keywords;
  if (dtype) keywords.emplace_back("dtype", *dtype);
  if (!same_device) keywords.emplace_back("device", std::string(device));
  if (!format.empty()) keywords.emplace_back("memory_format", std::string(format));
  return b(Op::_to_copy, {self}, keywords);
}

Expansion to_dtype(Builder& b, const Call& call) {
  return to_type(b, call, call.maybe_dtype("dtype"), {});
}
Expansion to_device(Builder& b, const Call& call) {
  return to_type(b, call, call.maybe_dtype("dtype"), call.text("device"));
}
Expansion to_other(Builder& b, const Call& call) {
  const TensorType& other = call.tensor("other");
  return to_type(b, call, other.dtype,
                 other.device.empty() ? std::string_view(b.graph().device) : other.device);
}
Expansion type_as(Builder& b, const Call& call) {
  return b.convert(self_of(b, call), call.tensor("other").dtype);
}

Expansion contiguous(Builder& b, const Call& call) {
  const Value self = self_of(b, call);
  const std::string format(call.text("memory_format"));
  if (format.find("channels_last") == std::string::npos && is_contiguous(self.type())) return self;
  return b(Op::clone, {self}, {{"memory_format", format}});
}

Expansion itself(Builder& b, const Call& call) { return self_of(b, call); }

// The value alone: the tensor that it is written to has a new one.
Expansion copy_in_place(Builder& b, const Call& call) {
  const TensorType to = call.tensor("self");
  const Value written = b.expand(b.convert(b.value(call.node("src")), to.dtype), to.shape);
  Expansion made(written);
  made.writes.emplace_back("self", written);
  return made;
}

Value part(Builder& b, const Value& z, std::int64_t index) {
  return b(Op::select_int, {b(Op::view_as_real, {z}), -1, index});
}
Expansion real_part(Builder& b, const Call& call) {
  const Value self = self_of(b, call);
  return is_complex(self.dtype()) ? part(b, self, 0) : self;
}
Expansion imaginary_part(Builder& b, const Call& call) { return part(b, self_of(b, call), 1); }
Expansion conjugate(Builder& b, const Call& call) {
  const Value self = self_of(b, call);
  return is_complex(self.dtype()) ? b(Op::_conj, {self}) : self;
}

}  // namespace

std::vector<CompositeRow> conversion_composites() {
  return {
      {"aten::to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor",
       to_dtype},
      {"aten::to.dtype_layout(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor",
       to_device},
      {"aten::to.device(Tensor self, Device device, ScalarType dtype, bool non_blocking=False, "
       "bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
       to_device},
      {"aten::to.prim_Device(Tensor self, Device? device, ScalarType? dtype=None, bool "
       "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
       to_device},
      {"aten::to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor",
       to_other},
      {"aten::type_as(Tensor self, Tensor other) -> Tensor", type_as},
      {"aten::contiguous(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", contiguous},
      {"aten::lift_fresh(Tensor self) -> Tensor", itself},
      {"aten::lift(Tensor self) -> Tensor", itself},
      {"aten::real(Tensor self) -> Tensor", real_part},
      {"aten::imag(Tensor self) -> Tensor", imaginary_part},
      {"aten::conj(Tensor self) -> Tensor", conjugate},
      {"aten::resolve_conj(Tensor self) -> Tensor", itself},
      {"aten::resolve_neg(Tensor self) -> Tensor", itself},
      {"aten::copy_(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copy_in_place,
       "self"},
  };
}

}  // namespace recut
