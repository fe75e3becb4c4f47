# Building a preset; sourced by samples/run.sh and tests/run.sh, which stand in
# the top folder of the checkout when they call it.

# ", 3 min left", once it can be estimated: from steps done, all steps, and seconds so far.
time_left() {
  local rest=$(($2 > $1 && $1 > 2 ? $3 * ($2 - $1) / $1 : 0))
  if [[ $1 -gt 2 && $rest -ge 60 ]]; then
    printf ', %d min left' $((rest / 60 + 1))
  elif [[ $1 -gt 2 && $2 -gt $1 ]]; then
    printf ', less than a minute left'
  fi
}

# The progress of a build, from ninja's lines `[n/m s] …`: on a terminal one line that is overwritten, else
# a line every twenty seconds. All else passes through, warnings and errors whole.
watch_build() {
  local line last=0 open=""
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\ ([0-9]+)[0-9.]*\]\  ]]; then
      local done_=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} seconds=${BASH_REMATCH[3]}
      if [[ -t 2 ]]; then
        printf '\r\033[K%d of %d steps%s' "$done_" "$all" "$(time_left "$done_" "$all" "$seconds")" >&2
        open=yes
      elif ((seconds - last >= 20)); then
        say "$done_ of $all steps$(time_left "$done_" "$all" "$seconds")"
        last=$seconds
      fi
    elif [[ $line != "ninja: no work to do"* ]]; then
      [[ -z $open ]] || echo >&2
      open=""
      printf '%s\n' "$line" >&2
    fi
  done
  [[ -z $open ]] || echo >&2
}

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
  NINJA_STATUS='[%f/%t %e] ' cmake --build --preset "$preset" --parallel "$(nproc)" "$@" 2>&1 | watch_build
}
