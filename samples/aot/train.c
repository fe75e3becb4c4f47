/* Trains the perceptron of samples/mlp.recut by gradient descent, with the step that Recut compiled
 * of it: prints the loss as it falls.
 *
 *   recut compile samples/mlp.recut -o libmlp.so --header mlp.h
 *   cc -std=c11 -I. samples/aot/train.c ./libmlp.so -lm -o train && ./train
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mlp.h"

enum { STEPS = 500, BATCH = 8, WIDTH = 16, TARGETS = 4 };
static const float kRate = 0.1f;

/* From -1 to 1. */
static float random_number(void) { return (float)rand() / (float)RAND_MAX * 2.0f - 1.0f; }

static float* new_tensor(const mlp_tensor* tensor) {
  float* values = calloc((size_t)tensor->bytes, 1);
  if (values == NULL) abort();
  return values;
}

/* What the model is to learn: four functions of the inputs' sums. */
static void make_batch(float* x, float* target) {
  for (int row = 0; row < BATCH; ++row) {
    float sum = 0;
    for (int i = 0; i < WIDTH; ++i) sum += x[row * WIDTH + i] = random_number();
    for (int i = 0; i < TARGETS; ++i) target[row * TARGETS + i] = sinf(0.3f * (float)i * sum);
  }
}

int main(void) {
  static const int kParameters[] = {MLP_IN_W1, MLP_IN_B1, MLP_IN_W2, MLP_IN_B2};
  static const int kGradients[] = {MLP_GRADIENT_W1, MLP_GRADIENT_B1, MLP_GRADIENT_W2,
                                   MLP_GRADIENT_B2};
  mlp_step step = {0};
  float* inputs[MLP_INPUTS];
  float* outputs[MLP_OUTPUTS];
  for (int i = 0; i < MLP_INPUTS; ++i) step.inputs[i] = inputs[i] = new_tensor(mlp_input(i));
  for (int i = 0; i < MLP_OUTPUTS; ++i) step.outputs[i] = outputs[i] = new_tensor(mlp_output(i));
  step.arena = aligned_alloc(MLP_ARENA_ALIGNMENT, MLP_ARENA_BYTES);
  if (step.arena == NULL) abort();

  for (int p = 0; p < 4; ++p) {
    const int64_t count = mlp_input(kParameters[p])->bytes / (int64_t)sizeof(float);
    for (int64_t i = 0; i < count; ++i) inputs[kParameters[p]][i] = 0.3f * random_number();
  }
  inputs[MLP_IN_LOSS_GRAD][0] = 1; /* the loss itself is to fall */

  float first = 0, mean = 0; /* of the first and of the latest losses */
  for (int i = 0; i < STEPS; ++i) {
    make_batch(inputs[MLP_IN_X], inputs[MLP_IN_TARGET]);
    int32_t fault = mlp_forward(&step);
    if (fault == 0) fault = mlp_backward(&step);
    if (fault != 0) {
      fprintf(stderr, "step %d: %s\n", i, mlp_fault(fault));
      return 1;
    }
    for (int p = 0; p < 4; ++p) {
      const int64_t count = mlp_input(kParameters[p])->bytes / (int64_t)sizeof(float);
      for (int64_t k = 0; k < count; ++k)
        inputs[kParameters[p]][k] -= kRate * outputs[kGradients[p]][k];
    }
    mean += outputs[MLP_OUT_LOSS][0] / 50;
    if (i % 50 != 49) continue;
    printf("steps %3d to %3d: loss %.4f\n", i - 49, i, (double)mean);
    if (first == 0) first = mean;
    if (i + 1 < STEPS) mean = 0;
  }
  for (int i = 0; i < MLP_INPUTS; ++i) free(inputs[i]);
  for (int i = 0; i < MLP_OUTPUTS; ++i) free(outputs[i]);
  free(step.arena);
  if (mean < 0.5f * first) return 0;
  fprintf(stderr, "the loss did not fall\n");
  return 1;
}
