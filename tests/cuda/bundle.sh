#!/usr/bin/env bash
# Makes a folder of all that tests/cuda/run.sh needs on a machine with a GPU: the command with its
# libraries (packed), graphs and this folder. There: DIR/tests/cuda/run.sh
#
# usage: tests/cuda/bundle.sh DIR [FILE…]
#   FILE…: graphs beside samples/joint (default: the small ones of ../shared/graphs, where that is);
#          run.sh pytorch wants those that it is to compare
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $# -gt 0 ]] || { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
folder="$1"
shift
graphs=("$@")
if [[ ${#graphs[@]} -eq 0 && -d ../shared/graphs ]]; then
  graphs=(../shared/graphs/{lstm,cpu_bert,cpu_gpt2,cpu_resnet18,cpu_unet}.json.gz)
fi

mkdir -p "$folder"/{samples/joint,graphs,tests/{cuda,pytorch}}
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
mkdir "$packed/lib"
strip -o "$packed/recut" build/release/recut
# The C library, too, for machines whose own is older than this one's.
ldd build/release/recut | awk '$2 == "=>" {print $3} $1 ~ /ld-linux/ {print $1}' |
  xargs -I{} cp -L {} "$packed/lib/"
tar -C "$packed" -czf "$folder/programs.tar.gz" .

cat >"$folder/recut" <<'LAUNCHER'
#!/usr/bin/env bash
# Unpacks the command once, and runs it: with this machine's C library, else with the one it was
# built with.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
programs="${RECUT_UNPACKED:-/tmp/recut-bundle-$(id -u)}/$(cksum <"$here/programs.tar.gz" | tr ' ' -)"
if [[ ! -f $programs/ready ]]; then
  mkdir -p "$programs/own" "$programs/loader"
  tar -C "$programs/loader" -xzf "$here/programs.tar.gz"
  for library in "$programs"/loader/lib/*; do
    case "$(basename "$library")" in
      ld-linux* | libc.so* | libm.so* | libstdc++* | libgcc_s*) ;;
      *) cp "$library" "$programs/own/" ;;
    esac
  done
  touch "$programs/ready"
fi
export LD_LIBRARY_PATH="$programs/own${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if "$programs/loader/recut" --help >/dev/null 2>&1; then exec "$programs/loader/recut" "$@"; fi
exec "$programs/loader/lib/ld-linux-x86-64.so.2" --library-path "$programs/loader/lib:$LD_LIBRARY_PATH" \
  "$programs/loader/recut" "$@"
LAUNCHER
chmod +x "$folder/recut"
cp samples/joint/tiny_* samples/joint/mlp.json.gz "$folder/samples/joint/"
[[ ${#graphs[@]} -eq 0 ]] || cp "${graphs[@]}" "$folder/graphs/"
cp tests/cuda/*.{sh,py} "$folder/tests/cuda/"
cp -r tests/cuda/graphs "$folder/tests/cuda/"
cp tests/pytorch/joint_graph.py "$folder/tests/pytorch/"
du -sh "$folder"
