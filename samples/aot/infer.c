/* Runs a model of one batch that Recut compiled, with its weights inside the library: sets each input
 * that has no weights to 0.5, and prints the outputs.
 *
 *   recut compile model.pt2 -o net.so --name net
 *   cc -std=c11 -I. samples/aot/infer.c ./net.so -o infer && ./infer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* Inputs and outputs of other dtypes stay 0. */
static int is_f32(const net_tensor* tensor) { return strcmp(tensor->dtype, "f32") == 0; }

int main(void) {
  net_step step = {0};
  net_set_weights(&step);
  for (int i = 0; i < NET_INPUTS; ++i) {
    const net_tensor* input = net_input(i);
    if (step.inputs[i] != NULL) continue; /* a weight */
    float* values = calloc((size_t)input->bytes + 1, 1);
    if (values == NULL) abort();
    if (is_f32(input))
      for (int64_t k = 0; k < input->bytes / (int64_t)sizeof(float); ++k) values[k] = 0.5f;
    step.inputs[i] = values;
  }
  for (int i = 0; i < NET_OUTPUTS; ++i) {
    step.outputs[i] = calloc((size_t)net_output(i)->bytes + 1, 1);
    if (step.outputs[i] == NULL) abort();
  }
  step.arena = aligned_alloc(NET_ARENA_ALIGNMENT, NET_ARENA_BYTES + NET_ARENA_ALIGNMENT);
  if (step.arena == NULL) abort();

  const int32_t fault = net_forward(&step);
  if (fault != 0) {
    fprintf(stderr, "%s\n", net_fault(fault));
    return 1;
  }
  for (int i = 0; i < NET_OUTPUTS; ++i) {
    const float* values = step.outputs[i];
    if (!is_f32(net_output(i))) continue;
    for (int64_t k = 0; k < net_output(i)->bytes / (int64_t)sizeof(float); ++k)
      printf("%.9g\n", (double)values[k]);
  }
  return 0;
}
