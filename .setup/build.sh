# Building a preset; sourced by samples/run.sh and tests/run.sh, which stand in
# the top folder of the checkout when they call it.

# build_preset PRESET [ARGUMENTS...]: the rest goes to `cmake --build`, such as
# --target. Configures only the first time and after a change of the presets;
# ninja notices every other change of the build files by itself.
build_preset() {
  local preset="$1" folder="build/$1"
  shift
  if [[ ! $folder/build.ninja -nt CMakePresets.json ]]; then
    cmake --preset "$preset" >"$folder.log" 2>&1 || { cat "$folder.log" >&2 && return 1; }
    touch "$folder/build.ninja"
  fi
  cmake --build --preset "$preset" --parallel "$(nproc)" "$@" >&2
}
