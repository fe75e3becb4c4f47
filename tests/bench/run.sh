#!/usr/bin/env bash
# The benchmarks: how long reading and verifying a graph takes, the passes
# beside Inductor's, planning by strategy torch beside the seconds that PyTorch
# needed for the same, the whole trade-off curve, what strategy peak reaches and
# how soon, the layout of graphs for the canvas, Recut's own loops beside
# oneDNN, its WebAssembly beside a product by hand and beside machine code,
# checked steps at falling budgets, and, where the page is built, how long that
# plans.
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
build_preset release
step "Reading and verifying, median of five"
build/release/tests/bench_read_bench "${files[@]}"
step "Passes, beside Inductor's on the same graphs"
build/release/tests/bench_passes_bench "${files[@]}"
step "Planning by strategy torch, beside PyTorch's own figures"
build/release/tests/bench_partition_bench "${files[@]}"
step "Sweeping 50 budgets: the whole curve, and its first points"
build/release/tests/bench_sweep_bench "${files[@]}"
step "Strategy peak: budgets equal to the real peaks of PyTorch's points"
build/release/tests/bench_peak_bench points "${files[@]}"
step "Strategy peak: least peaks"
build/release/tests/bench_peak_bench least "${files[@]}"
step "Strategy peak: how soon"
build/release/tests/bench_peak_bench speed "${files[@]}"
build/release/tests/bench_peak_bench growth
if [[ -f ../shared/tools/simulate.py ]]; then
  step "Plans of every graph, replayed by an independent simulator"
  tests/conformance/replay_plans.py "${files[@]}"
fi
step "Layout of graphs, and of 54,252 nodes"
build/release/tests/bench_layout_bench "${files[@]}"
step "Frames of the window: the graph at all zooms, the timeline, dragging the budget"
build/release/tests/bench_canvas_bench "${files[@]}"
build/release/tests/bench_timeline_bench
build/release/tests/bench_drag_bench "${files[@]}"
step "Products and convolutions by Recut's own loops, beside plain ones and oneDNN"
build/release/tests/bench_loops_bench
if command -v node > /dev/null; then
  step "A matrix product in WebAssembly, beside one written by hand"
  tests/bench/wasm_products.sh
  step "Kernels in WebAssembly beside the same as machine code"
  kernels=()
  for file in "${files[@]}"; do
    case $file in */mlp.json.gz | */lstm.json.gz | */cpu_unet.json.gz | */cpu_bert.json.gz | */cpu_resnet18.json.gz) kernels+=("$file") ;; esac
  done
  [[ ${#kernels[@]} -eq 0 ]] || tests/bench/wasm_step.sh "${kernels[@]}"
fi
step "Checked steps at falling budgets, before and after the passes"
small=()
for file in "${files[@]}"; do
  case $file in */tiny_*.json.gz | */mlp.json.gz | */lstm.json.gz | */cpu_*.json.gz) small+=("$file") ;; esac
done
[[ ${#small[@]} -eq 0 ]] || tests/bench/check_budgets.py "${small[@]}"
if [[ -f build/wasm/site/recut.wasm && -d tests/page/node_modules && -x ${CHROMIUM:-/usr/bin/chromium} ]]; then
  step "The page in Chromium beside the command: planning the same budgets"
  timed=()
  for file in "${files[@]}"; do
    case $file in */gpt2.json.gz | */gpt2_xl.json.gz) timed+=("$file") ;; esac
  done
  node tests/bench/page_planning.mjs build/wasm/site build/release/recut "${timed[@]}"
  step "The page in Chromium without a GPU: first picture, drag, typing"
  node tests/bench/page_response.mjs build/wasm/site
fi
if [[ -d ../shared/moccasin ]]; then
  step "Published rematerialisation graphs"
  build/release/tests/bench_peak_bench moccasin ../shared/moccasin/*.json
fi
