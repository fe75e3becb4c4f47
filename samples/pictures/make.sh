#!/usr/bin/env bash
# Makes the pictures of the documents anew: the curves, the pictures of the window and of the page, and those of the
# interface's findings. Nothing else writes samples/pictures/*.svg and *.png.
#
# usage: samples/pictures/make.sh [PART…]     without one: curves, window and page
#   curves     gpt2-memory.svg and gpt2-trade-off.svg, by build/release/recut; the same bytes on every machine
#   window     window*.png but window-first.png, by build/release/recut-gui on a screen in memory (window.script)
#   page       window-first.png: the first screen, as the page's checks leave it (build/wasm/site, Chromium)
#   findings   build/findings/*.png, which no document shows (findings.script)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source .setup/say.sh

graph=samples/joint/gpt2.json.gz
pictures=samples/pictures

make_curves() {
  build/release/recut plan "$graph" --budget 50% --svg "$pictures/gpt2-memory.svg" >/dev/null
  build/release/recut sweep "$graph" --svg "$pictures/gpt2-trade-off.svg" >/dev/null
}

# The steps of a script, in a window of the size that the pictures have.
on_a_screen() {
  command -v xvfb-run >/dev/null || fail "no xvfb-run; .setup/install.sh --tests installs it"
  CUDA_VISIBLE_DEVICES= xvfb-run --auto-servernum --server-args "-screen 0 1800x1200x24" \
    build/release/recut-gui --size 1680x1050 --script "$1"
}

make_window() { on_a_screen "$pictures/window.script"; }

make_page() {
  tests/page/run.sh start build/wasm/site build/release/recut --only "it starts and draws a sample"
  cp build/wasm/page-pictures/first.png "$pictures/window-first.png"
}

make_findings() {
  mkdir -p build/findings
  on_a_screen "$pictures/findings.script"
}

parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(curves window page)
for part in "${parts[@]}"; do
  case "$part" in
    curves | window | page | findings) step "Pictures: $part" && "make_$part" ;;
    *) fail "usage: samples/pictures/make.sh [curves|window|page|findings]…" ;;
  esac
done
