#!/usr/bin/env bash
# Runs a scenario against the real window, on a screen that only exists in memory. Skipped (77)
# where this machine has none.
#
# usage: under_xvfb.sh RECUT-GUI SCENARIO.script
set -euo pipefail
gui="$1" scenario="$(realpath "$2")"
samples="$(realpath "$(dirname "$0")/../../samples")"
if ! command -v xvfb-run >/dev/null; then
  echo "skipped: no xvfb-run; .setup/install.sh --tests installs it"
  exit 77
fi
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
cd "$work"  # screenshots go there
export CUDA_VISIBLE_DEVICES=  # scenarios are for machines without a GPU, too
ln -s "$samples" samples
xvfb-run --auto-servernum --server-args "-screen 0 1800x1200x24" \
  "$gui" --script "$scenario" --size 1680x1050
find . -name '*.png' -size +8k | grep -q . || { echo "no picture was left"; exit 1; }
