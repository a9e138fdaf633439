#!/usr/bin/env bash
# Everything that is measured and proved on a Hopper GPU, in one go, short tables last:
#
#     benchmarks/on_gpu.sh RESULTS [examples|on_chip|standalone|decode|launching|tests|matrix|sanitizer ...]
#
# runs the examples, the combine against hand-written CUDA and against the stand-alone peers, decode attention against its peers, the launch path, the GPU tests,
# the combine and the decode attention over their whole matrices, and these under compute-sanitizer. Kernels are compiled here with all cores, unless PREPARED names a folder that benchmarks/prepare.sh filled elsewhere; the examples
# always compile. Needs fa4dsl importable (see .ci/gpu-tree where nothing can be installed), torch, nvcc and compute-sanitizer. PEERS chooses the stand-alone peers.
set -uo pipefail
cd "$(dirname "$0")/.."
results=${1:?a folder for the results}
shift
steps=${*:-examples on_chip standalone decode launching tests matrix sanitizer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONUNBUFFERED=1 FA4DSL_CACHE_DIR=$work/cache PYTHONPATH=$PWD/benchmarks:$PWD/tests/gpu:${PYTHONPATH:-}
prepared=${PREPARED:-$work/prepared}

need() { # PART: what a step runs, compiled here unless it came along
  [ -e "$prepared/$1/done" ] || benchmarks/prepare.sh "$prepared" "$1"
}

for step in $steps; do
  echo "== $step"
  case $step in
    examples) # each asserts its own result
      for name in vector_add dsmem_rotate warp_reduction tma_ring multicast_ring wgmma_gemm persistent_gemm pingpong_gemm flash_attention causal_attention \
        cluster_softmax splitk_decode; do
        timeout 60 python3 -P "examples/$name.py" cuda || echo "FAILED: $name"
      done 2>&1 | tee "$results/examples.txt"
      ;;
    on_chip)
      need on_chip
      timeout 200 python3 -P benchmarks/combine_on_chip.py run "$prepared/on_chip" --json "$results/on_chip.json" | tee "$results/on_chip.txt"
      ;;
    standalone)
      need standalone
      timeout 260 python3 -P benchmarks/combine_standalone.py run "$prepared/standalone" --cases main --only "${PEERS:-fa4dsl,triton}" --budget 240 \
        --json "$results/standalone.json" 2>&1 | tee "$results/standalone.txt" | tail -60
      ;;
    decode)
      need decode
      timeout 360 python3 -P benchmarks/decode.py run "$prepared/decode" --shapes all --only "${PEERS:-fa4dsl,triton}" --budget 340 \
        --json "$results/decode.json" 2>&1 | tee "$results/decode.txt" | tail -60
      ;;
    launching)
      need gpu
      timeout 120 python3 -P benchmarks/launch_overhead.py --combine "$prepared/gpu/combine.fa4" 2>&1 | tee "$results/launching.txt"
      timeout 120 python3 -P benchmarks/launch_overhead.py --combine "$prepared/gpu/combine.fa4" --python 2>&1 | tee "$results/launching_python.txt"
      timeout 120 python3 -P benchmarks/first_call.py --artifact "$prepared/gpu/combine.fa4" --runs 15 2>&1 | tee "$results/first_call.txt"
      ;;
    tests)
      need gpu
      FA4DSL_GPU_FOLDER=$prepared/gpu timeout 300 python3 -P -m pytest -q -p no:cacheprovider tests/gpu 2>&1 | tee "$results/tests.txt" | tail -40
      ;;
    matrix)
      need matrix
      need decode_matrix
      timeout 300 python3 -P tests/gpu/combine_matrix.py run "$prepared/matrix" | tee "$results/matrix.txt"
      timeout 300 python3 -P tests/gpu/decode_matrix.py run "$prepared/decode_matrix" | tee "$results/decode_matrix.txt"
      ;;
    sanitizer)
      need matrix
      need decode_matrix
      for part in matrix decode_matrix; do
        script=tests/gpu/${part/#matrix/combine_matrix}.py
        prefix=${part%matrix}
        for tool in memcheck racecheck synccheck initcheck; do
          # tests/gpu/synccheck_clusters.cu says why.
          less=$([ "$tool" = synccheck ] && echo --resident)
          # shellcheck disable=SC2086
          timeout 200 compute-sanitizer --report-api-errors no --tool "$tool" python3 -P "$script" run "$prepared/$part" --quick $less >"$results/$prefix$tool.txt" 2>&1 &
        done
        wait
      done
      # What synccheck says of a hand-written kernel, as many clusters as are resident and one more.
      nvcc -std=c++17 -arch=sm_90a -o "$work/synccheck_clusters" tests/gpu/synccheck_clusters.cu &&
        for clusters in 7 8 14; do
          echo "hand-written, $clusters clusters of 16: $(timeout 60 compute-sanitizer --tool synccheck "$work/synccheck_clusters" "$clusters" 2>&1 | grep -E "done|SUMMARY|illegal" | tr '\n' ' ')"
        done | tee "$results/synccheck_clusters.txt"
      tail -n 4 "$results"/{,decode_}{memcheck,racecheck,synccheck,initcheck}.txt
      ;;
    *) echo "no step $step" >&2; exit 2 ;;
  esac
done
