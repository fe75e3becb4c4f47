#!/usr/bin/env bash
# The benchmarks: how long reading and verifying a graph takes, and planning by
# strategy torch beside the seconds that PyTorch needed for the same.
#
# usage: tests/bench/run.sh [FILE…]     without files: ../shared/graphs, else samples/joint
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source .setup/say.sh
source .setup/build.sh

files=("$@")
if [[ ${#files[@]} -eq 0 ]]; then
  folder=samples/joint
  [[ -d ../shared/graphs ]] && folder=../shared/graphs
  files=("$folder"/*.json.gz)
fi

step "Building the benchmarks"
build_preset release --target bench_read_bench bench_partition_bench
step "Reading and verifying, median of five"
build/release/tests/bench_read_bench "${files[@]}"
step "Planning by strategy torch, beside PyTorch's own figures"
build/release/tests/bench_partition_bench "${files[@]}"
