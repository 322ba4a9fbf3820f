# shellcheck shell=bash
# Where libraries stand on a machine with the CUDA toolkit: source this first.
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
export LD_LIBRARY_PATH="$cuda/targets/x86_64-linux/lib:$cuda/lib64:$cuda/extras/CUPTI/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PATH="$cuda/bin:$PATH"
