# Source code of libraries from Debian's next release; sourced by install.sh.
#
# apt is given a source list and a state folder of its own, so that the
# machine's sources and lists are neither used nor changed.

sources_home="${XDG_CACHE_HOME:-$HOME/.cache}/recut"
suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror that this machine already gets Debian from (deb822 files first, then
# classic lists); security archives are other trees and don't count.
debian_mirror() {
  local mirror
  mirror="$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '
      tolower($1) == "uris:" { for (i = 2; i <= NF; i++) if ($i ~ /\/debian\/?$/) print $i }' |
    head -n 1)"
  [[ -n $mirror ]] || mirror="$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    2>/dev/null | sed -n 's/^deb\(-src\)\? \+\(\[[^]]*\] \+\)\?\([^ ]*\/debian\/\?\) .*/\3/p' |
    head -n 1)"
  printf '%s\n' "${mirror:-http://deb.debian.org/debian}"
}

has_digest() { sha256sum --check --status <<<"$2  $1"; }

# Downloads the source package $1 into the current folder.
download_source() {
  local package="$1" mirror apt
  mirror="$(debian_mirror)"
  mkdir -p lists/partial
  printf 'deb-src [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >sources.list
  apt=(apt-get --quiet -o "Dir::Etc::SourceList=$PWD/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$PWD/lists"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
  say "Fetching the source of $package from $mirror ($suite)."
  "${apt[@]}" update >&2 && "${apt[@]}" source --download-only --tar-only "$package" >&2
}

# fetch_source NAME VERSION ARCHIVE SHA256: leaves the unpacked library at
# $sources_home/NAME-VERSION. It appears there in one step, so that an
# interrupted run leaves nothing that looks complete.
fetch_source() {
  local target="$sources_home/$1-$2" archive="$3" digest="$4" work
  [[ ! -d $target ]] || return 0

  mkdir -p "$sources_home"
  work="$(mktemp -d "$sources_home/fetch.XXXXXX")"
  (
    cd "$work"
    download_source "$1" || fail "the source of $1 could not be fetched. Put $archive (SHA-256
  $digest), unpacked, at $target yourself."
    has_digest "$archive" "$digest" || fail "$archive is not the file that was expected (SHA-256)."
    mkdir unpacked
    tar --extract --strip-components=1 --directory unpacked --file "$archive"
    mv --no-target-directory unpacked "$target"
  )
  rm -r "$work"
  say "$1 $2 stands at $target."
}
