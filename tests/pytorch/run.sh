#!/usr/bin/env bash
# Recut inside PyTorch, tested and measured on the machine that has PyTorch and a GPU: the module's
# tests, random models under Inductor, then gradients and peaks of real models, then the tables beside
# PyTorch's own partitioner.
# Skipped (77) where PyTorch isn't installed. Needs librecut.so: built here, or named in
# RECUT_LIBRARY, or copied to build/release/ (it needs nothing but glibc).
#
# usage: run.sh [tests|random|check|table|plan|batch ...]     default: all of them, eager kernels first
#        PYTHON=…: the interpreter; what follows `--` goes to compare.py
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python="${PYTHON:-python3}"

if ! "$python" -c 'import torch' 2>/dev/null; then
  echo "skipped: PyTorch is not installed"
  exit 77
fi
if [[ -z ${RECUT_LIBRARY:-} && ! -f build/release/librecut.so ]]; then
  cmake --preset release >/dev/null
  ninja -C build/release recut_shared
fi

parts=()
while [[ $# -gt 0 && $1 != -- ]]; do
  parts+=("$1")
  shift
done
[[ $# -eq 0 ]] || shift
[[ ${#parts[@]} -gt 0 ]] || parts=(tests random check table plan batch)

for part in "${parts[@]}"; do
  if [[ $part == tests ]]; then
    "$python" tests/pytorch/test_module.py
    "$python" tests/pytorch/export_test.py
  elif [[ $part == random ]]; then
    "$python" tests/pytorch/random_test.py
  else
    "$python" tests/pytorch/compare.py "$part" "$@"
  fi
done
