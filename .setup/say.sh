# Plain sentences on standard error, for every script of the house; sourced.

say() { printf '%s\n' "$*" >&2; }

# A heading before work that takes a while.
step() { printf '\n== %s\n' "$*" >&2; }

fail() {
  printf 'recut: %s\n' "$*" >&2
  exit 1
}
