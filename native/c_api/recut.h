/* Recut as a C library: plans of training graphs, for programs that are no part of Recut.
 *
 * A *graph* is read once and planned any number of times. A *plan* lists the values saved between
 * forward and backward, the recomputed ones, and the order of execution. Budgets, strategies and
 * JSON results are those of the `recut` command (native/README.md).
 *
 * Ownership. Graphs and plans belong to the caller until the call that frees them; a plan may
 * outlive its graph. A text returned in a `char**` belongs to the caller, is zero-terminated UTF-8,
 * and is freed with recut_text_free. The library keeps and frees no argument; bytes and texts need
 * to live as long as the call. Freeing a null pointer does nothing.
 *
 * Errors. Every function that can fail returns a status, and sets all its out parameters to null
 * before anything else. `error` may be null; otherwise it is set to null or to a message for
 * people: one diagnostic a line, with its location if it has one ("joint.json:3:17: error: …").
 * Diagnostics of a graph's text are followed by its line and a caret. Out parameters other than
 * `error` may not be null. No call throws, prints or ends the process.
 *
 * Threads. There is no global state. Any number of threads may call at once, with the same graph or
 * plan too, as long as nobody frees it meanwhile. The same input and options give the same plan in
 * any thread and on any machine, unless `seconds` ends a search. Each call works on its caller's
 * thread and calls back on it alone; numbers have a decimal point in every locale.
 *
 * Options are a JSON object, or null for none. An unknown or repeated key and a value of the wrong
 * type or out of range are RECUT_BAD_OPTION; `error` then has the key, the value found and the
 * value expected.
 */
#ifndef RECUT_H
#define RECUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RECUT_API __attribute__((visibility("default")))
#else
#define RECUT_API
#endif

typedef enum recut_status {
  RECUT_OK = 0,
  RECUT_NOT_HELD = 1,  /* the budget can't be held; the plan with the least peak is returned,
                          and `error` has that peak */
  RECUT_BAD_INPUT = 2, /* the graph's bytes */
  RECUT_BAD_OPTION = 3,
  RECUT_CANCELLED = 4,
  RECUT_OUT_OF_MEMORY = 5,
  RECUT_INTERNAL = 6, /* a bug of Recut's, caught */
  RECUT_NOT_KEPT = 7  /* no kernel is kept for the arguments; `error` says how they differ */
} recut_status;

typedef struct recut_graph recut_graph;
typedef struct recut_plan recut_plan;

/* Called at intervals by the thread that works, never by another. Callbacks may call this library,
 * but not free the objects of the running call; they must return, not throw or jump. */
typedef struct recut_callbacks {
  void* user; /* handed to both */

  /* May be null. `fraction`: finished part of the work, 0 to 1, or below 0 if unknown. The text
   * lives until the callback returns. */
  void (*progress)(void* user, double fraction, const char* message);

  /* May be null. A nonzero result ends the work within milliseconds: RECUT_CANCELLED, and no
   * result. Called at most every few milliseconds. */
  int (*cancelled)(void* user);
} recut_callbacks;

/* "major.minor.patch"; static storage of the library. */
RECUT_API const char* recut_version(void);

/* Reads fx-joint-graph JSON, gzipped or not, or Recut's text form, checks it and runs the passes.
 * A forward graph is read, too: it is planned as inference, and recut_graph_differentiate makes a
 * joint graph of it.
 * The JSON may have measured times (native/README.md, `--device measured`).
 * `bytes` may hold anything; `name` (null: "graph") names the file in diagnostics.
 *
 *   "graph"   "joint" (default; "forward" where there is none), "joint_after_passes" or "forward",
 *             or the key of a graph of a trace or log: which graph of the file
 *   "dims"    sizes of symbols, {"s17": 64}; a symbol without one has the file's hint
 *   "passes"  list of passes to run, in this order; []: none. Without the key: the default ones,
 *             but none on joint_after_passes
 *   "op_library"  expansions of operators that Recut lacks, as `--op-library` (native/README.md):
 *             [{"text": "rule …"}, {"operator": "mine.scale3", "text": "graph …"}]; "name" is for
 *             diagnostics
 *
 * RECUT_OK, _BAD_INPUT, _BAD_OPTION, _OUT_OF_MEMORY or _INTERNAL. */
RECUT_API recut_status recut_graph_read(const void* bytes, size_t size, const char* name,
                                        const char* options_json, recut_graph** graph,
                                        char** error);
RECUT_API void recut_graph_free(recut_graph* graph);

/* The derivatives of a graph, as `recut grad` makes them. `graph` is not changed and still belongs
 * to the caller.
 *
 * Mode "reverse" makes the joint graph of a forward graph: a tangent input for each differentiated
 * result, and a gradient output for each input that requires one. A joint graph's forward part is
 * differentiated anew.
 *
 * Mode "jvp" makes dual numbers: each of those inputs has a further input, its tangent, and each
 * result a further result. The lines dual_input and dual_result of recut_graph_text tell which is
 * whose. Of a joint graph these are Hessian-vector products.
 *
 *   "mode"     "reverse" (default) or "jvp"
 *   "level"    level of the tangents of mode jvp; without the key: above all that the graph has
 *   "wrt"      list of names: inputs to differentiate by. Without the key: parameters, or all real
 *              inputs where there are none
 *   "results"  list of results that get a tangent, counted from 0, of mode reverse. Without the key:
 *              all that depend on those inputs, but for updates of buffers
 *   "passes"   list of passes to run on the new graph; without the key: the default passes
 *
 * RECUT_BAD_INPUT where a needed operator has no derivative rule; the message names it and the
 * first node that needs it. RECUT_BAD_OPTION where an input or result is not in the graph, or can't
 * be differentiated, and where the graph has tangents at the level or above it. */
RECUT_API recut_status recut_graph_differentiate(const recut_graph* graph, const char* options_json,
                                                 recut_graph** joint, char** error);

/* The graph of one rank of a device mesh, as `recut show --mesh` makes it: the calls on the rank's
 * parts of all values, and the collectives between them. Rank 0 has the largest part of
 * every value. `graph` is not changed and still belongs to the caller.
 *
 *   "mesh"        name and size of each axis, "dp=2,tp=4"; needed
 *   "preset"      style of each axis, "dp=fsdp,tp=tp": ddp, fsdp, tp, sp or cp
 *   "placements"  text of a placement file, instead of a preset; without both all is replicated
 *   "rank"        whose graph (0)
 *
 * RECUT_BAD_INPUT for a graph that has collectives; RECUT_BAD_OPTION for a mesh, placements or a
 * rank that don't fit. */
RECUT_API recut_status recut_graph_shard(const recut_graph* graph, const char* options_json,
                                         recut_graph** rank, char** error);

/* The graph after its passes in Recut's text form, which recut_graph_read reads again: plans name
 * its nodes. */
RECUT_API recut_status recut_graph_text(const recut_graph* graph, char** text, char** error);

/* Plans. A forward graph's plan is an inference step: an order for the least peak, and
 * recomputation where a budget needs it. Strategy torch and overrides need a joint graph. Options
 * are the command's, each by its long name:
 *
 *   "strategy"     "peak" (default), "torch", "default"
 *   "budget"       "3GiB", "40%", "none" (default), or a number of bytes; for strategy torch a
 *                  fraction of the saved bytes: 0.4 or "0.4"
 *   "effort"       search effort, as a multiple of the default: above 0, up to 1e6 (default: 1)
 *   "seconds"      time limit of the search in seconds; the best plan so far is kept
 *   "search_seed"  seed of the search's random choices (default: 1)
 *   "device"       a built-in profile's name, "measured" (the times that the graph's file has), the
 *                  path of a profile, or a profile itself: an object as in samples/devices
 *   "model"        "eager" (default) or "fused", with the largest kernels that hold the budget
 *   "save", "recompute"   lists of names of nodes, or patterns of modules: overrides of the plan
 *   "ignore_checkpoints"  true: the planner chooses where the graph's calls have a policy of
 *                  torch.utils.checkpoint (default: plans follow the policies)
 *   "torch"        options of strategy torch by their names, as `recut plan --torch` has them:
 *                  {"ban_recompute_reductions": false, "solver": "greedy", "recomputable": ["mm"]}
 *
 * `callbacks` may be null. Also returns RECUT_NOT_HELD, with a plan, and RECUT_CANCELLED. */
RECUT_API recut_status recut_plan_make(const recut_graph* graph, const char* options_json,
                                       const recut_callbacks* callbacks, recut_plan** plan,
                                       char** error);
RECUT_API void recut_plan_free(recut_plan* plan);

/* The plan file of `recut plan --out`: {"forward": [names], "saved": [names], "backward": [names],
 * "same": {name: name}, "peak_bytes": n, …}. A forward graph's "saved" and "backward" are empty.
 */
RECUT_API recut_status recut_plan_json(const recut_plan* plan, char** json, char** error);

/* The report of `recut plan --json`: the figures, and tables of the saved values, the values alive
 * at the peak, and the recomputed calls. A forward graph's has the bytes of weights and inputs
 * instead of saved values. */
RECUT_API recut_status recut_report_json(const recut_plan* plan, char** json, char** error);

/* The whole trade-off, as `recut sweep --json` prints it: "points" by rising budget, PyTorch's own
 * in "torch". Options: "points" (2 to 10000; 50 is the default), and of recut_plan_make's "effort",
 * "search_seed", "device", "model", "save", "recompute", "ignore_checkpoints", "torch"; "plans": true
 * gives each of "points" a "plan", as recut_plan_json has it. Returns the statuses of recut_plan_make. */
RECUT_API recut_status recut_sweep(const recut_graph* graph, const char* options_json,
                                   const recut_callbacks* callbacks, char** json, char** error);

/* The largest size of a symbol, such as the batch, whose plan holds a budget, as `recut fit --json`
 * prints it. Options: "fit": list of symbols that are this one size; "budget" in bytes ("24GiB");
 * "most": the largest size to try (default: 1048576); recut_graph_read's "graph", "passes",
 * "dims" and "op_library", and of recut_plan_make's "effort", "seconds", "search_seed", "device", "model", "save",
 * "recompute", "ignore_checkpoints". RECUT_NOT_HELD, with the JSON, where no size holds; else the
 * statuses of recut_graph_read and RECUT_CANCELLED. */
RECUT_API recut_status recut_fit(const void* bytes, size_t size, const char* name,
                                 const char* options_json, const recut_callbacks* callbacks,
                                 char** json, char** error);

/* The code of a plan's step, as `recut emit` prints it: {"target": …, "program": the digest of its
 * launches, kernels and addresses, which every front end of Recut gives for the same settings,
 * "arena_bytes": n, "kernels": n, "launches": n, "code": text}. Options: "target": "loop" (default),
 * "llvm", "wasm" or "cuda" (sm_80), and those of recut_plan_make, with "fused" for "model" where
 * none is given. RECUT_NOT_HELD, without JSON, where plan or arena exceed the budget;
 * RECUT_BAD_INPUT names the operators without code; else the statuses of recut_plan_make. */
RECUT_API recut_status recut_emit(const recut_graph* graph, const char* options_json,
                                  const recut_callbacks* callbacks, char** json, char** error);

/* Single operators that `recut compile-op` compiled and kept: found by the metadata of their
 * arguments, and called on the caller's buffers. Nothing is compiled here. */
typedef struct recut_operators recut_operators;
typedef struct recut_operator recut_operator;

/* The kept operators of a directory; null: the command's (RECUT_CACHE_DIR, or recut in
 * XDG_CACHE_HOME, or ~/.cache/recut). A directory without any is no error. RECUT_OK,
 * _BAD_OPTION, _OUT_OF_MEMORY or _INTERNAL. */
RECUT_API recut_status recut_operators_open(const char* directory, recut_operators** operators,
                                            char** error);
RECUT_API void recut_operators_free(recut_operators* operators);

/* Looks an operator's kernel up and loads it. It may outlive `operators`. The arguments are those
 * of `recut compile-op`, by position and by name; a string is in the command's grammar, and other
 * JSON values stand for themselves:
 *
 *   {"inputs": ["f32[2, 3]", "f32[3]"], "set": {"alpha": 2}}
 *
 * RECUT_NOT_KEPT where no entry has these arguments, or the one that has them is damaged, of
 * another version, or for another processor: `error` has the reason. RECUT_BAD_OPTION where the
 * operator is unknown or doesn't take the arguments. Also _OUT_OF_MEMORY and _INTERNAL. */
RECUT_API recut_status recut_operator_find(const recut_operators* operators, const char* name,
                                           const char* arguments_json, recut_operator** found,
                                           char** error);
RECUT_API void recut_operator_free(recut_operator* found);

/* The kernel as `recut compile-op --json` prints it: operator, arguments, library, and "inputs" and
 * "outputs" with name, dtype, sizes, strides and bytes. */
RECUT_API recut_status recut_operator_json(const recut_operator* found, char** json, char** error);

/* How many tensors it reads and writes, and the bytes of each buffer; -1 where there is none of
 * that number. Inputs are the tensors among the arguments, in the schema's order. */
RECUT_API size_t recut_operator_inputs(const recut_operator* found);
RECUT_API size_t recut_operator_outputs(const recut_operator* found);
RECUT_API long long recut_operator_input_bytes(const recut_operator* found, size_t number);
RECUT_API long long recut_operator_output_bytes(const recut_operator* found, size_t number);

/* Calls the kernel: `inputs` are buffers in the strides of the arguments, `outputs` are written in
 * the strides of recut_operator_json, apart from the inputs; a null output isn't written. `seed` is that of random numbers.
 * RECUT_BAD_INPUT with the fault of the data, such as an index out of range. Also _OUT_OF_MEMORY
 * and _INTERNAL. */
RECUT_API recut_status recut_operator_run(const recut_operator* found, const void* const* inputs,
                                          void* const* outputs, unsigned long long seed,
                                          char** error);

RECUT_API void recut_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
