# The stages of tests/run.sh, and the count of what passed and failed; sourced.

passed=0
failed=0
skipped=0
failures=()

# How long CI gives each fuzz target; ten minutes by hand now and then.
fuzz_seconds="${FUZZ_SECONDS:-20}"

# Runs one stage; a stage that stops before its tests is one failure.
run_stage() {
  local stage="$1" start=$SECONDS
  step "$stage: building"
  if ! build_preset "$stage"; then
    count_failure "$stage: the build"
  else
    test_preset "$stage"
    [[ $stage != asan ]] || fuzz_all
  fi
  say "$stage took $((SECONDS - start)) s."
}

count_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

# The attribute $2 of the first test suite in the JUnit file $1.
junit_count() { sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

test_preset() {
  local preset="$1" results="$PWD/build/$1/tests.xml" tests broken passed_over
  step "$preset: testing"
  rm -f "$results"
  ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$results" && true
  if [[ ! -f $results ]]; then
    count_failure "$preset: ctest ran nothing"
    return
  fi
  tests="$(junit_count "$results" tests)"
  broken="$(junit_count "$results" failures)"
  passed_over="$(junit_count "$results" skipped)"
  passed=$((passed + tests - broken - passed_over))
  failed=$((failed + broken))
  skipped=$((skipped + passed_over))
  mapfile -t -O "${#failures[@]}" failures < <(sed -n \
    "s/.*<testcase name=\"\([^\"]*\)\".*status=\"fail\".*/$preset: \1/p" "$results")
}

# What a target finds is kept in build/asan/findings; the corpus that it grows
# in build/asan/corpus, on top of the seeds in the repository.
fuzz_one() {
  local name="$1" grown="build/asan/corpus/$1" seeds="tests/fuzz/corpus/$1" words=()
  [[ -d $seeds ]] || seeds="tests/$name/models"
  [[ ! -f tests/fuzz/$name.dict ]] || words=(-dict="tests/fuzz/$name.dict")
  mkdir -p "$grown" build/asan/findings
  "build/asan/fuzz_$name" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="build/asan/findings/$name-" \
    "${words[@]}" "$grown" "$seeds" >&2
}

# As many targets at once as there are processors; of each what it said, when it has ended.
fuzz_all() {
  local names=() batch name
  for name in tests/fuzz/*.cpp; do
    [[ ! -f $name ]] || names+=("$(basename "$name" .cpp)")
  done
  mkdir -p build/asan/fuzz
  while [[ ${#names[@]} -gt 0 ]]; do
    batch=("${names[@]:0:$(nproc)}")
    names=("${names[@]:$(nproc)}")
    step "fuzz: ${batch[*]}, $fuzz_seconds s"
    fuzz_batch "${batch[@]}"
  done
}

fuzz_batch() {
  local name pid=()
  for name in "$@"; do
    fuzz_one "$name" 2>"build/asan/fuzz/$name.log" &
    pid+=($!)
  done
  for name in "$@"; do
    if wait "${pid[0]}"; then
      passed=$((passed + 1))
    else
      count_failure "fuzz: $name (see build/asan/findings)"
    fi
    cat "build/asan/fuzz/$name.log" >&2
    pid=("${pid[@]:1}")
  done
}

# The plain closing line, and before it what failed.
report() {
  say
  for failure in "${failures[@]}"; do
    say "FAILED $failure"
  done
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
