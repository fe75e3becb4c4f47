// Attention as PyTorch's decompositions write it, in all its forms.
#pragma once

#include "tests/random/random_motifs.h"

namespace recut::test {

enum class Scale { multiplied, divided, none };
// both: hiding, then added. Of the last two the graph itself says which keys are seen, by their
// positions, and where they are a number is added: those up to the query's, or all.
enum class Mask { none, added, hiding, showing, both, causal, all_seen };

struct AttentionForm {
  std::int64_t batches = 2, heads = 3, queries = 4, keys = 5, width = 2, value_width = 3;
  DType dtype = DType::f32;  // of 16 bits: the softmax is computed in f32
  Scale scale = Scale::multiplied;
  Mask mask = Mask::none;
  bool dropout = false;
  bool trained = false;    // with the gradients of query, key and value
  bool copied = false;     // operands are copied before they are viewed in three dimensions
  bool hides = false;      // a causal mask by positions asks which keys are hidden
  bool unknown = false;    // the number that a mask by positions adds is an input
  bool wide_mask = false;  // an added mask is f32 where the scores have 16 bits
  bool three = false;      // three dimensions throughout, but where a mask is added
  // Softmax and its gradient are one operator each, and dropout's gradient is what Recut makes of
  // it.
  bool composite = false;
};

// Operands, masks and what flows back are new inputs. What nothing reads is what comes out.
void write_attention(MotifWriter& writer, const AttentionForm& form);

// The softmax of a value in its last dimension.
NodeId write_softmax(MotifWriter& writer, NodeId x);

}  // namespace recut::test
