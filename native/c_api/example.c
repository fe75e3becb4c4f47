/* Plans a graph at a budget through librecut, and prints the plan's figures. A forward graph is planned
 * as inference, which saves nothing.
 *
 *   recut_example FILE BUDGET      recut_example samples/joint/gpt2.json.gz 50%
 *
 * Exit codes are the command's: 0 done, 1 the budget can't be held, 2 anything else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/c_api/recut.h"

/* The whole file, or null. */
static char* read_file(const char* path, size_t* size) {
  char* bytes = NULL;
  long end = 0;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
    bytes = malloc((size_t)end + 1);
  *size = bytes == NULL ? 0 : fread(bytes, 1, (size_t)end, file);
  fclose(file);
  return bytes;
}

static void report_error(char* error) {
  fprintf(stderr, "%s\n", error == NULL ? "out of memory" : error);
  recut_text_free(error);
}

/* A number of the report; any library for JSON does this better. */
static double figure(const char* json, const char* key) {
  const char* at = strstr(json, key);
  return at == NULL ? -1 : strtod(at + strlen(key), NULL);
}

static int print_plan(const recut_plan* plan) {
  char *json = NULL, *error = NULL;
  if (recut_report_json(plan, &json, &error) != RECUT_OK) {
    report_error(error);
    return 2;
  }
  printf("peak   %.0f bytes\n", figure(json, "\"peak_bytes\": "));
  if (strstr(json, "\"saved_bytes\": ") != NULL)
    printf("saved  %.0f bytes\n", figure(json, "\"saved_bytes\": "));
  recut_text_free(json);
  return 0;
}

static int plan_graph(const recut_graph* graph, const char* budget) {
  char options[100], *error = NULL;
  recut_plan* plan = NULL;
  recut_status status;
  int code = 2;
  snprintf(options, sizeof options, "{\"budget\": \"%.60s\"}", budget);
  status = recut_plan_make(graph, options, NULL, &plan, &error);
  if (status == RECUT_OK || status == RECUT_NOT_HELD) code = print_plan(plan);
  if (status == RECUT_NOT_HELD && code == 0) code = 1;
  if (status != RECUT_OK) report_error(error);
  recut_plan_free(plan);
  return code;
}

int main(int argc, char** argv) {
  char *bytes, *error = NULL;
  size_t size = 0;
  recut_graph* graph = NULL;
  int code = 2;
  if (argc != 3) {
    fprintf(stderr, "usage: %s FILE BUDGET\n", argv[0]);
    return 2;
  }
  bytes = read_file(argv[1], &size);
  if (bytes == NULL) {
    perror(argv[1]);
    return 2;
  }
  if (recut_graph_read(bytes, size, argv[1], NULL, &graph, &error) == RECUT_OK)
    code = plan_graph(graph, argv[2]);
  else
    report_error(error);
  recut_graph_free(graph);
  free(bytes);
  return code;
}
