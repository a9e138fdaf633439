#!/usr/bin/env bash
# Everything that is measured and proved on a Hopper GPU, in one go, short tables last:
#
#     benchmarks/on_gpu.sh RESULTS [examples|benchmarks|matrix|sanitizer ...]
#
# runs the examples, compiles all kernels with all cores, then the combine against hand-written CUDA, against the stand-alone peers, over its whole matrix, and under
# compute-sanitizer. Needs fa4dsl importable (see .ci/gpu-tree where nothing can be installed), torch, nvcc and compute-sanitizer.
set -uo pipefail
cd "$(dirname "$0")/.."
results=${1:?a folder for the results}
shift
steps=${*:-examples benchmarks matrix sanitizer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONUNBUFFERED=1 FA4DSL_CACHE_DIR=$work/cache PYTHONPATH=$PWD/benchmarks:${PYTHONPATH:-}
cores=$(nproc)

# Fills the cache from all cores; the scripts' own `prepare` then only looks kernels up.
warm() { # SCRIPT: every core takes a share of what the script compiles
  seq 0 $((cores - 1)) | xargs -P "$cores" -I{} python3 -P "$1" prepare "$work/share{}" --share "{}/$cores" >/dev/null
}

for step in $steps; do
  case $step in
    examples) # each asserts its own result
      for name in vector_add dsmem_rotate warp_reduction tma_ring multicast_ring wgmma_gemm persistent_gemm flash_attention splitk_decode; do
        timeout 60 python3 -P "examples/$name.py" cuda || echo "FAILED: $name"
      done 2>&1 | tee "$results/examples.txt"
      ;;
    benchmarks)
      for name in on_chip standalone; do
        warm "benchmarks/combine_$name.py"
        python3 -P "benchmarks/combine_$name.py" prepare "$work/$name"
      done
      timeout 200 python3 -P benchmarks/combine_on_chip.py run "$work/on_chip" --json "$results/on_chip.json" | tee "$results/on_chip.txt"
      timeout 200 python3 -P benchmarks/combine_standalone.py run "$work/standalone" --cases main --only fa4dsl,triton --budget 180 --json "$results/standalone.json" | tail -45 | tee "$results/standalone.txt"
      ;;
    matrix | sanitizer)
      [ -f "$work/matrix/configs.json" ] || { warm tests/gpu/combine_matrix.py && python3 -P tests/gpu/combine_matrix.py prepare "$work/matrix"; }
      if [ "$step" = matrix ]; then
        timeout 300 python3 -P tests/gpu/combine_matrix.py run "$work/matrix" | tee "$results/matrix.txt"
      else
        for tool in memcheck racecheck synccheck initcheck; do
          echo "== $tool"
          timeout 200 compute-sanitizer --tool "$tool" python3 -P tests/gpu/combine_matrix.py run "$work/matrix" --quick 2>&1 | tail -4 | tee "$results/$tool.txt"
        done
      fi
      ;;
    *) echo "no step $step" >&2; exit 2 ;;
  esac
done
