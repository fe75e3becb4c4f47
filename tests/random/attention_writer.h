// Attention as PyTorch's decompositions write it, in all its forms.
#pragma once

#include "tests/random/random_motifs.h"

namespace recut::test {

enum class Scale { multiplied, divided, none };
// `both`: hiding, then added. For the last two the graph itself decides by positions which keys are
// visible, and a number is added to the hidden ones: `causal` shows keys up to the query,
// `all_seen` all.
enum class Mask { none, added, hiding, showing, both, causal, all_seen };

struct AttentionForm {
  std::int64_t batches = 2, heads = 3, queries = 4, keys = 5, width = 2, value_width = 3;
  DType dtype = DType::f32;  // if 16 bits, the softmax is f32
  Scale scale = Scale::multiplied;
  Mask mask = Mask::none;
  bool dropout = false;
  bool trained = false;       // with the gradients of query, key and value
  bool copied = false;        // operands are copied before they are viewed in three dimensions
  bool hides = false;         // a causal mask by positions asks which keys are hidden
  bool unknown = false;       // the number that a mask by positions adds is an input
  bool wide_mask = false;     // an added mask is f32 where the scores have 16 bits
  bool tensor_scale = false;  // the scale is a tensor of one number
  bool wide_dropout = false;  // dropout comes before the probabilities are rounded to 16 bits
  bool lowest = false;        // hidden keys have the lowest number instead of -inf
  bool turned_keys = false;   // in three dimensions: the keys are transposed by a view
  bool three = false;         // three dimensions throughout, but where a mask is added
  // Softmax and its gradient are one operator each, and dropout's gradient is Recut's own form.
  bool composite = false;
};

// Operands, masks and incoming gradients are new inputs. Values without readers become outputs.
void write_attention(MotifWriter& writer, const AttentionForm& form);

// The softmax of a value along its last dimension.
NodeId write_softmax(MotifWriter& writer, NodeId x);

}  // namespace recut::test
