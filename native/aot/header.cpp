#include "native/aot/header.h"

#include <fmt/format.h>

#include "engine/schedule/schedule.h"
#include "engine/support/version.h"

namespace recut::aot {
namespace {

// Alignment of an arena: the widest vector of any machine, and a cache line.
constexpr std::int64_t kAlignment = 64;

// {p}: the prefix, {P}: in capitals.
constexpr std::string_view kTrainingOpening =
    R"(/* {graph}: a training step, compiled by Recut {version} for the processor {processor}.
 *
 * The library needs no Recut and no library but C's own. All shapes are fixed. A step is run in two
 * halves: forward gives the results, backward takes the tangents and gives the gradients. What
 * forward keeps for backward stands in the arena, so that the two take the same one, and nothing
 * may change it, the inputs or the seed between them. Steps with arenas of their own may run at
 * once.
 *
 *   {p}_step step = {{0}};
 *   step.arena = aligned_alloc({P}_ARENA_ALIGNMENT, {P}_ARENA_BYTES);
 *   step.inputs[…] = …;    step.outputs[…] = …;
 *   if ({p}_forward(&step) != 0 || {p}_backward(&step) != 0) …
)";

constexpr std::string_view kInferenceOpening =
    R"(/* {graph}: an inference step, compiled by Recut {version} for the processor {processor}.
 *
 * The library needs no Recut and no library but C's own. All shapes are fixed. Parameters and
 * constants are inputs as well: {set_once} Steps with arenas of their own may run at once.
 *
 *   {p}_step step = {{0}};
 *   step.arena = aligned_alloc({P}_ARENA_ALIGNMENT, {P}_ARENA_BYTES);
 *   step.inputs[…] = …;    step.outputs[…] = …;
 *   if ({p}_forward(&step) != 0) …
)";

constexpr std::string_view kGuard =
    R"( */
#ifndef RECUT_STEP_{P}_H
#define RECUT_STEP_{P}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* The memory that a step works in: so many bytes, beginning at a multiple of this. */
#define {P}_ARENA_BYTES INT64_C({arena_bytes})
#define {P}_ARENA_ALIGNMENT {alignment}

)";

constexpr std::string_view kHeaderFunctions = R"(
/* Calls part(state, first, last) for parts that together are 0 to extent, each once, each beginning
 * at a multiple of grain, in any order and at once as it likes, and returns when all have. */
typedef void (*{p}_parallel_for)(void* context, int64_t extent, int64_t grain,
                                 void (*part)(void* state, int64_t first, int64_t last),
                                 void* state);

/* inputs   the elements of each, in the strides that {p}_input says{tangents}
 * outputs  where each is written, in the strides that {p}_output says, apart from the inputs;
 *          null: it isn't wanted
 * arena    {P}_ARENA_BYTES of memory
 * seed     of random numbers */
typedef struct {p}_step {{
  const void* inputs[{P}_INPUTS];
  void* outputs[{P}_OUTPUTS];
  void* arena;
  uint64_t seed;
  {p}_parallel_for parallel_for; /* null: one thread does all */
  void* context;                 /* that parallel_for is given */
}} {p}_step;

/* 0, or what is wrong with the data: outputs are then of no use. */
int32_t {p}_forward(const {p}_step* step);
{backward}{write_back}{weights}
/* What such a number says, in English; "" of 0. */
const char* {p}_fault(int32_t number);

/* What the tensors are; null where there is none of that number. */
typedef struct {p}_tensor {{
  const char* name;       /* in the graph */
  const char* kind;       /* {kinds} */
  const char* dtype;      /* f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool */
  int64_t rank;
  const int64_t* shape;   /* rank numbers */
  const int64_t* strides; /* in elements */
  int64_t bytes;
  int64_t mutates; /* of a mutation, the number of the input that it is the new value of; else -1 */
  int64_t storage; /* of a result, the number of the input in whose storage PyTorch has it, as a view
                    * or as the new value; -1: it has a storage of its own */
}} {p}_tensor;
const {p}_tensor* {p}_input(int32_t number);
const {p}_tensor* {p}_output(int32_t number);

#ifdef __cplusplus
}}
#endif

#endif
)";

constexpr const char* kWriteBack = R"(
/* Copies each mutation that has a pointer over the input that it is the new value of, as PyTorch does
 * after a step{when}. The memory of these inputs is written. */
void {p}_write_back(const {p}_step* step);
)";

constexpr const char* kWeights = R"(
/* Points the inputs that the file of weights has at its bytes, which begin at a multiple of
 * {P}_ARENA_ALIGNMENT and stay there while the step runs. */
#define {P}_WEIGHTS_BYTES INT64_C({bytes})
void {p}_set_weights({p}_step* step, const void* bytes);
)";

constexpr const char* kWritten =
    "\n * Write-back changes them there: of steps that run at once, one alone may do it.";

constexpr const char* kWeightsInside = R"(
/* Points the inputs whose values the library holds at them, {bytes} bytes in all.{written} */
void {p}_set_weights({p}_step* step);
)";

// Makes a name safe inside a comment.
std::string in_comment(std::string text) {
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at))
    text[at] = '.';
  return text;
}

std::string enumeration(const std::vector<InterfaceTensor>& tensors, const std::string& count) {
  std::string text = "enum {\n";
  for (const InterfaceTensor& tensor : tensors)
    text += fmt::format("  {}, /* {} {}, {} */\n", tensor.enumerator, tensor.kind,
                        in_comment(tensor.name), in_comment(format(tensor.type)));
  return text + fmt::format("  {}\n}};\n", count);
}

}  // namespace

std::string header_text(const Interface& interface, const HeaderFacts& facts) {
  const std::string upper = interface.upper();
  const bool inference = interface.inference;
  const std::string backward =
      inference ? ""
                : fmt::format("int32_t {0}_backward(const {0}_step* step);\n", interface.prefix);
  const std::string weights =
      interface.weights.empty()
          ? ""
          : fmt::format(fmt::runtime(interface.weights_inside ? kWeightsInside : kWeights),
                        fmt::arg("p", interface.prefix), fmt::arg("P", upper),
                        fmt::arg("bytes", interface.weights_bytes),
                        fmt::arg("written", interface.mutates_weights() ? kWritten : ""));
  const std::string write_back =
      interface.mutates_inputs()
          ? fmt::format(fmt::runtime(kWriteBack), fmt::arg("p", interface.prefix),
                        fmt::arg("when", inference ? "" : ": call it after backward"))
          : "";
  const std::string set_once =
      interface.weights.empty()
          ? "set them once."
          : fmt::format("{}_set_weights sets those that\n * have values.", interface.prefix);
  const auto filled = [&](std::string_view text) {
    return fmt::format(fmt::runtime(text), fmt::arg("p", interface.prefix), fmt::arg("P", upper),
                       fmt::arg("graph", in_comment(facts.graph)), fmt::arg("version", version()),
                       fmt::arg("processor", facts.processor),
                       fmt::arg("arena_bytes", aligned(facts.arena_bytes, kAlignment)),
                       fmt::arg("alignment", kAlignment),
                       fmt::arg("tangents", inference ? "" : "; tangents are for backward alone"),
                       fmt::arg("set_once", set_once), fmt::arg("backward", backward),
                       fmt::arg("write_back", write_back), fmt::arg("weights", weights),
                       fmt::arg("kinds", inference ? "parameter, input, constant; result, mutation"
                                                   : "parameter, input, tangent, constant; result, "
                                                     "mutation, gradient"));
  };
  return filled(inference ? kInferenceOpening : kTrainingOpening) + filled(kGuard) +
         enumeration(interface.inputs, upper + "_INPUTS") + "\n" +
         enumeration(interface.outputs, upper + "_OUTPUTS") + filled(kHeaderFunctions);
}

}  // namespace recut::aot
