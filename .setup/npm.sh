# Packages of the npm registry, as a folder's package-lock.json pins them; sourced by install.sh.

# Debian's npm is a package of its own; other builds of node bring one along, and bear no second.
install_npm() {
  command -v npm >/dev/null || install_missing npm ||
    fail "npm is missing: apt-get install npm"
}

# Installs $1/node_modules as in $1/package-lock.json, unless it is there already.
install_modules() {
  local folder="$1"
  [[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ]] && return
  install_npm
  say "Installing what $(basename "$folder")'s tests need from the npm registry."
  npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts >&2 ||
    fail "npm could not install what $folder/package-lock.json names."
  touch "$folder/node_modules/.package-lock.json"
}
