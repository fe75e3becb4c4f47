/* Finds a kept operator and calls it: self + 2 other, of f32[2, 3] and f32[3].
 *
 *   recut compile-op aten.add.Tensor --inputs 'f32[2, 3]' 'f32[3]' --set alpha=2
 *   recut_operator_example
 *
 * Exit codes: 0 done, 1 no kernel is kept for these arguments, 2 anything else. */
#include <stdio.h>

#include "native/c_api/recut.h"

static int report_error(recut_status status, char* error) {
  fprintf(stderr, "%s\n", error == NULL ? "out of memory" : error);
  recut_text_free(error);
  return status == RECUT_NOT_KEPT ? 1 : 2;
}

int main(void) {
  static const float self[6] = {1, 2, 3, 4, 5, 6}, other[3] = {10, 20, 30};
  static const char arguments[] =
      "{\"inputs\": [\"f32[2, 3]\", \"f32[3]\"], \"set\": {\"alpha\": 2}}";
  const void* inputs[2];
  float sum[6];
  void* outputs[1];
  char* error = NULL;
  recut_operators* operators = NULL;
  recut_operator* add = NULL;
  recut_status status = recut_operators_open(NULL, &operators, &error);
  if (status == RECUT_OK)
    status = recut_operator_find(operators, "aten.add.Tensor", arguments, &add, &error);
  recut_operators_free(operators);
  if (status != RECUT_OK) return report_error(status, error);
  inputs[0] = self;
  inputs[1] = other;
  outputs[0] = sum;
  status = recut_operator_run(add, inputs, outputs, 0, &error);
  recut_operator_free(add);
  if (status != RECUT_OK) return report_error(status, error);
  printf("%g %g %g %g %g %g\n", sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]);
  return sum[0] == 21 && sum[5] == 66 ? 0 : 2;
}
