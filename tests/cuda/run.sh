#!/usr/bin/env bash
# Training steps on an NVIDIA GPU, checked: recut run --device cuda --check of each graph without a
# budget, at 60 % and at the least peak, as a table of planned and measured peaks, errors and times.
# Skipped where there is no GPU. Exit code 1 where a step fails.
#
# usage: tests/cuda/run.sh [RECUT] [-- FILE…]
#   RECUT: the command (default: build/release/recut, or that of a bundle: bundle.sh)
#   FILE…: graphs (default: the small ones of samples/joint, those of tests/cuda/graphs, and, where
#          they are, some of ../shared/graphs or graphs/)
#   OPTIONS=…: more options of each run ("--precision bf16", "--no-library")
#   BUDGETS=…: which of none, 60% and least (default: all)
#
#        tests/cuda/run.sh pytorch [RECUT] [-- OPTION… GRAPH…]
#   PyTorch beside it: outputs, step times, memory against time (pytorch.py --help). Skipped where
#   there is no PyTorch.
#
#        tests/cuda/run.sh train [RECUT] [-- FILE…]
#   recut train on the GPU, beside the same on the processor: losses of every step, peaks (default:
#   the small models of samples/joint).
#
#        tests/cuda/run.sh sanitize [RECUT] [-- FILE…]
#   One step of each graph under compute-sanitizer's memcheck and racecheck (default: the small ones
#   of samples/joint, and those of tests/cuda/graphs). Races are looked for in all kernels but those
#   that cuDNN generates for attention: NVIDIA's own, in which racecheck reports hazards.
#   JOBS=…: so many at once (default: 4)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mode=steps
if [[ ${1-} == pytorch || ${1-} == sanitize || ${1-} == train ]]; then
  mode="$1"
  shift
fi
recut=build/release/recut
[[ -x $recut ]] || recut=./recut
if [[ $# -gt 0 && $1 != -- ]]; then
  recut="$1"
  shift
fi
[[ $# -eq 0 ]] || shift
files=("$@")
if [[ $mode == train && ${#files[@]} -eq 0 ]]; then
  files=(samples/joint/{mlp,tiny_mlp,tiny_conv,tiny_lm}.json.gz)
fi
if [[ $mode != pytorch && ${#files[@]} -eq 0 ]]; then
  files=(samples/joint/{tiny_mlp,tiny_conv,tiny_lm,tiny_lstm,tiny_ops,mlp}.json.gz)
  files+=(tests/cuda/graphs/*.recut)
  for folder in graphs ../shared/graphs; do
    [[ $mode == steps && -d $folder ]] || continue
    for name in lstm cpu_bert cpu_gpt2 cpu_resnet18 cpu_unet; do
      [[ ! -f $folder/$name.json.gz ]] || files+=("$folder/$name.json.gz")
    done
    break
  done
fi

if said=$("$recut" run samples/joint/tiny_mlp.json.gz --device cuda --steps 1 2>&1 >/dev/null); then
  :
elif [[ $said == *"has no CUDA driver"* || $said == *"has no GPU"* ]]; then
  echo "skipped: ${said#error: }"
  exit 0
fi
sanitize() {  # TOOL FILE
  local said rc=0 but=()
  [[ $1 != racecheck ]] || but=(--kernel-name-exclude kernel_substring=cudnn_generated)
  said=$(compute-sanitizer --tool "$1" "${but[@]}" --error-exitcode 9 "$recut" run "$2" --device cuda --no-cache \
    --steps 1 2>&1) || rc=1
  [[ $rc == 0 ]] || echo "$said"
  echo "$(basename "$2"): $1: ${said##*========= }"
  return "$rc"
}
if [[ $mode == sanitize ]]; then
  export -f sanitize
  export recut
  printf '%s\0' "${files[@]}" | sed -z 's/.*/memcheck\x00&\x00racecheck\x00&/' |
    xargs -0 -n 2 -P "${JOBS:-4}" bash -c 'sanitize "$@"' sanitize || exit 1
  exit 0
fi
[[ $mode != train ]] || exec python3 -B tests/cuda/training.py "$recut" "${files[@]}"
if [[ $mode == pytorch ]]; then
  if ! python3 -c "import torch" 2>/dev/null; then
    echo "skipped: PyTorch is not installed"
    exit 0
  fi
  exec python3 -B tests/cuda/pytorch.py --recut "$recut" "${files[@]}"
fi
exec python3 -B tests/cuda/steps.py "$recut" "${files[@]}"
