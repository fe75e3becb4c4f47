# Debian packages: which are missing, and installing them; sourced by install.sh.

# The packages that the given files name.
packages_of() { cat "$@" | sed 's/#.*//' | tr -s ' \n' '\n' | sed '/^$/d'; }

# Those of them that aren't installed.
missing_packages() {
  local installed
  installed="$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' |
    sed -n 's/^installed //p' | sort --unique)"
  comm -13 <(printf '%s\n' "$installed") <(packages_of "$@" | sort --unique)
}

# Runs a command as root, or returns 1 where that isn't possible without asking.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo "$@"
  elif command -v sudo >/dev/null && [[ -t 0 ]]; then
    say "Installing packages needs root; sudo may ask for your password."
    sudo "$@"
  else
    return 1
  fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >&2
}

# Lists of packages may be absent (containers) or too old; only then update them.
install_missing() {
  apt_install "$@" && return
  say "Refreshing the lists of packages, then once more."
  as_root apt-get update >&2 && apt_install "$@"
}

# Installs the missing ones of the packages that the given files name, or prints the command for it.
install_packages() {
  command -v apt-get dpkg-query >/dev/null ||
    fail "this machine has no apt-get. Recut needs: $(packages_of "$@" | paste -sd ' ')"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  say "Missing packages: ${missing[*]}"
  as_root true || fail "these can't be installed here without root. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  say "Installing them with apt-get."
  install_missing "${missing[@]}" || fail "apt-get could not install: ${missing[*]}"
}
