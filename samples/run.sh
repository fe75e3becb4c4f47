#!/usr/bin/env bash
# From a fresh clone to a plan: installs what is missing, builds the command, plans the training step of
# GPT-2 (124 M parameters, batch 4 × 1024) and leaves a picture of its memory; then builds the window.
#
# usage: samples/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source .setup/say.sh
source .setup/build.sh

graph=samples/joint/gpt2.json.gz
picture=build/samples/gpt2.svg
mkdir -p build/samples

step "Looking for what Recut needs"
.setup/install.sh

step "Building the command, build/release/recut"
build_preset release --target recut

step "Planning $graph within half of its peak"
build/release/recut plan "$graph" --budget 50% --svg "$picture"
say
say "The picture of the step's memory: $picture"

step "Building the window, build/release/recut-gui (the command can be used meanwhile)"
build_preset release --target recut_gui_window
say "The window: build/release/recut-gui $graph"
