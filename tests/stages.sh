# The stages of tests/run.sh: how each is built and tested; sourced. What each step took and whether
# it passed goes to build/stages.txt, from which tests/report.py makes the sums.

# How long CI gives each fuzz target; ten minutes by hand now and then.
fuzz_seconds="${FUZZ_SECONDS:-20}"

# note STAGE STEP SECONDS VERDICT: `passed` and `failed` count as a test, `ok` only took time.
note() { printf '%s|%s|%s|%s\n' "$@" >>build/stages.txt; }

# step_of STAGE STEP COMMAND...: runs a step that fails the stage where it fails.
step_of() {
  local stage="$1" name="$2" start=$SECONDS verdict=ok
  shift 2
  step "$stage: $name"
  "$@" || verdict=failed
  note "$stage" "$name" $((SECONDS - start)) "$verdict"
  [[ $verdict == ok ]]
}

# A stage whose build fails is one failure; its tests don't run.
run_stage() {
  local stage="$1"
  rm -rf "build/$stage/tests.xml" "build/$stage/results"
  case "$stage" in
    tidy)  # either runs, whatever the other finds
      step_of tidy headers python3 -B tests/headers.py || true
      step_of tidy clang-tidy python3 -B tests/tidy.py --all
      ;;
    asan) step_of asan build build_preset asan && test_preset asan && fuzz_all ;;
    release)
      step_of release build build_preset release && test_preset release
      step_of release "clang-tidy of what changed" python3 -B tests/tidy.py --changed
      ;;
    *) step_of "$stage" build build_preset "$stage" && test_preset "$stage" ;;
  esac
}

# Runs ctest; which tests failed is in its results, so that this fails only where there are none.
test_preset() {
  local preset="$1" results="$PWD/build/$1/tests.xml" start=$SECONDS
  step "$preset: tests"
  mkdir -p "build/$preset/results"
  ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$results" "${ctest_words[@]}" && true
  if [[ -f $results ]]; then
    note "$preset" tests $((SECONDS - start)) ok
  else
    note "$preset" "tests (ctest ran none)" $((SECONDS - start)) failed
  fi
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
    step "asan: fuzzing ${batch[*]}, $fuzz_seconds s"
    fuzz_batch "${batch[@]}"
  done
}

fuzz_batch() {
  local name pid=() start=$SECONDS verdict
  for name in "$@"; do
    fuzz_one "$name" 2>"build/asan/fuzz/$name.log" &
    pid+=($!)
  done
  for name in "$@"; do
    verdict=passed
    wait "${pid[0]}" || verdict=failed
    note asan "fuzz $name" $((SECONDS - start)) "$verdict"
    start=$SECONDS
    cat "build/asan/fuzz/$name.log" >&2
    pid=("${pid[@]:1}")
  done
}
