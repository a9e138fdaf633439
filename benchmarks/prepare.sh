#!/usr/bin/env bash
# Compiles what benchmarks/on_gpu.sh runs, with all cores, for a GPU machine without the compiler:
#
#     benchmarks/prepare.sh FOLDER [on_chip|standalone|decode|gpu|matrix|decode_matrix ...]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?a folder for the artifacts}
shift
export PYTHONPATH=$PWD/benchmarks:$PWD/tests/gpu:${PYTHONPATH:-}
cores=$(nproc)

# Every core takes a share of what the script compiles, through the cache; the last call then only looks kernels up.
shared() { # SCRIPT FOLDER
  seq 0 $((cores - 1)) | xargs -P "$cores" -I{} python3 -P "$1" prepare "$2/share{}" --share "{}/$cores" >/dev/null
  rm -rf "$2"/share*
  python3 -P "$1" prepare "$2"
}

for part in ${*:-on_chip standalone decode gpu matrix decode_matrix}; do
  rm -rf "${folder:?}/$part"
  case $part in
    on_chip | standalone) shared "benchmarks/combine_$part.py" "$folder/$part" ;;
    decode) shared benchmarks/decode.py "$folder/decode" ;;
    matrix | decode_matrix) shared "tests/gpu/${part/#matrix/combine_matrix}.py" "$folder/$part" ;;
    gpu) python3 -P tests/gpu/prepare.py "$folder/gpu" ;;
    *) echo "no part $part" >&2; exit 2 ;;
  esac
  touch "$folder/$part/done"
done
