/* Recut as a C library: plans of training graphs, for programs that are no part of Recut.
 *
 * A *graph* is read once and planned as often as wanted; a *plan* says what to keep between forward
 * and backward, what to run again, and in which order. Budgets, strategies and the JSON that comes
 * back are those of the `recut` command (native/README.md).
 *
 * Ownership. Graphs and plans belong to the caller until the call that frees them; a plan does not
 * need its graph any more. Every text that comes back in a `char**` is the caller's, ends with a
 * zero, is UTF-8 and is freed with recut_text_free. Nothing that is passed in is kept or freed;
 * bytes and texts need to live as long as the call. Freeing a null pointer does nothing.
 *
 * Errors. Every function that can fail returns a status, and sets all its out parameters to null
 * before anything else. `error` may be null; otherwise it comes back as null or as words for
 * people, with a place where there is one ("joint.json:3:17: error: …"), one complaint a line;
 * below complaints of a graph's text stand its line and a caret. Out parameters other than `error`
 * may not be null. No exception crosses, nothing is printed, and no call ends the process.
 *
 * Threads. There is no global state. Any number of threads may call at once, with the same graph or
 * plan too, as long as nobody frees it meanwhile. The same input and options give the same plan in
 * any thread and on any machine, unless `seconds` ends a search. Each call works on its caller's
 * thread and calls back on that one alone; numbers are written with a point whatever the locale.
 *
 * Options are a JSON object, or null for none. A key that is unknown or there twice, a value of the
 * wrong type or out of range are RECUT_BAD_OPTION; `error` then names the key, what was found and
 * what was expected.
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
  RECUT_NOT_HELD = 1,  /* the budget can't be held; a plan is there all the same: the one that
                          peaks lowest, and `error` says how low that is */
  RECUT_BAD_INPUT = 2, /* the graph's bytes */
  RECUT_BAD_OPTION = 3,
  RECUT_CANCELLED = 4,
  RECUT_OUT_OF_MEMORY = 5,
  RECUT_INTERNAL = 6,    /* a bug of Recut's, caught */
  RECUT_FORWARD_ONLY = 7 /* the graph has no backward, so that there is nothing to plan;
                            recut_graph_differentiate gives it one */
} recut_status;

typedef struct recut_graph recut_graph;
typedef struct recut_plan recut_plan;

/* Called now and then by the thread that works, never by another. Callbacks may call this library,
 * but for freeing what is being worked on; they must return, not throw or jump. */
typedef struct recut_callbacks {
  void* user; /* handed to both */

  /* May be null. `fraction` of the work that is done, 0 to 1, or below 0: not known. `words` live
   * until it returns. */
  void (*progress)(void* user, double fraction, const char* words);

  /* May be null. Nonzero ends the work within milliseconds: RECUT_CANCELLED, and no result. Asked
   * at most every few milliseconds. */
  int (*cancelled)(void* user);
} recut_callbacks;

/* "major.minor.patch"; belongs to the library, lives for ever. */
RECUT_API const char* recut_version(void);

/* Reads fx-joint-graph JSON, gzipped or not, or Recut's text form, checks it and runs the passes.
 * A forward graph alone is read too: recut_graph_differentiate makes what can be planned of it.
 * What a program measured may stand in the JSON (native/README.md, `--device measured`).
 * `bytes` may hold anything; `name` (null: "graph") stands for the file in complaints.
 *
 *   "graph"   "joint" (default; "forward" where there is none), "joint_after_passes" or "forward":
 *             which graph of the file
 *   "passes"  list of passes to run, in this order; []: none. Without the key: the usual ones, but
 *             none on joint_after_passes
 *
 * RECUT_OK, _BAD_INPUT, _BAD_OPTION, _OUT_OF_MEMORY or _INTERNAL. */
RECUT_API recut_status recut_graph_read(const void* bytes, size_t size, const char* name,
                                        const char* options_json, recut_graph** graph,
                                        char** error);
RECUT_API void recut_graph_free(recut_graph* graph);

/* The joint graph of a forward one, as `recut grad` makes it: a tangent comes in for each result
 * that is differentiated, a gradient goes out for each input that gets one. Of a joint graph the
 * forward half is differentiated anew. `graph` stays as it is, and is the caller's still.
 *
 *   "wrt"      list of names: inputs to differentiate by. Without the key: parameters, or all real
 *              inputs where there are none
 *   "results"  list of results that get a tangent, counted from 0. Without the key: all that depend
 *              on those inputs, but for updates of buffers
 *   "passes"   list of passes to run on what comes out; without the key: the usual
 *              ones
 *
 * RECUT_BAD_INPUT where an operator on the way has no derivative; the words name it and the first
 * node that needs it. RECUT_BAD_OPTION where an input or result is none of the graph's, or can't
 * be differentiated. */
RECUT_API recut_status recut_graph_differentiate(const recut_graph* graph, const char* options_json,
                                                 recut_graph** joint, char** error);

/* The graph after its passes in Recut's text form, which recut_graph_read reads again: plans name
 * its nodes. */
RECUT_API recut_status recut_graph_text(const recut_graph* graph, char** text, char** error);

/* Plans. Options are the command's, each by its long name:
 *
 *   "strategy"     "peak" (default), "torch", "default"
 *   "budget"       "3GiB", "40%", "none" (default), or a number of bytes; for strategy torch a
 *                  fraction of the saved bytes: 0.4 or "0.4"
 *   "effort"       times as hard a search as usual: above 0, up to 1e6; 1 is the default
 *   "seconds"      ends the search after this long, with what it has
 *   "search_seed"  which way the search goes where it draws by lot: 1 is the default
 *   "device"       a built-in profile's name, "measured" (the times that the graph's file has), the
 *                  path of a profile, or a profile itself: an object as in samples/devices
 *   "model"        "eager" (default) or "fused", whose kernels are as large as hold the budget
 *   "save", "recompute"   lists of names of nodes, or patterns of modules: choices by hand
 *
 * `callbacks` may be null. Besides what recut_graph_read returns: RECUT_NOT_HELD, with a plan, and
 * RECUT_CANCELLED, and RECUT_FORWARD_ONLY. */
RECUT_API recut_status recut_plan_make(const recut_graph* graph, const char* options_json,
                                       const recut_callbacks* callbacks, recut_plan** plan,
                                       char** error);
RECUT_API void recut_plan_free(recut_plan* plan);

/* What `recut plan --out` writes: {"forward": [names], "saved": [names], "backward": [names],
 * "same": {name: name}, "peak_bytes": n, …}. */
RECUT_API recut_status recut_plan_json(const recut_plan* plan, char** json, char** error);

/* What `recut plan --json` prints: the figures, and as tables what is saved, what is alive at the
 * peak, what is recomputed. */
RECUT_API recut_status recut_report_json(const recut_plan* plan, char** json, char** error);

/* The whole trade-off, as `recut sweep --json` prints it: "points" by rising budget, PyTorch's own
 * in "torch". Options: "points" (2 to 10000; 50 is the default), and of recut_plan_make's "effort",
 * "search_seed", "device", "model", "save", "recompute"; "plans": true gives each of "points" a
 * "plan", as recut_plan_json has it. What it returns is recut_plan_make's. */
RECUT_API recut_status recut_sweep(const recut_graph* graph, const char* options_json,
                                   const recut_callbacks* callbacks, char** json, char** error);

RECUT_API void recut_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
