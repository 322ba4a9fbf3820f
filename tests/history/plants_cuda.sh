# shellcheck shell=bash
# The regressions of kernels that planted.sh plants where $DEVICE is a GPU; see plants.sh. A kernel is named
# where its code is what changes, and the function that launches it where that is.

# shellcheck disable=SC2034 # planted.sh reads it
plant_names="double division blocks banks barriers memset local loads atomic stride"

# replace FILE OLD NEW: the first OLD, which has to be there.
replace() {
    local text
    text=$(<"$1")
    [[ $text == *"$2"* ]] || return 1
    printf '%s\n' "${text/"$2"/"$3"}" >"$1"
}

plant() {
    case $1 in
    double) replace scale.cu 'y[i] = x[i] * 1.5f + 0.25f;' '{
            double value = x[i] * 1.5, part = 1 + (n >> 30);
#pragma unroll 1
            for (int step = 0; step < 16; step++)
                value /= part;
            y[i] = (float)(value + 0.25);
        }' ;;
    division) replace scale.cu 'y[i] = x[i] * 1.5f + 0.25f;' '{
            float value = x[i] * 1.5f, part = 1 + (n >> 30);
#pragma unroll 1
            for (int step = 0; step < 32; step++)
                value /= part;
            y[i] = value + 0.25f;
        }' ;;
    blocks) replace scale.cu 'int blocks = (n + THREADS - 1) / THREADS;' 'int blocks = (n + THREADS - 1) / THREADS;
    if (blocks > 32) blocks = 32;' ;;
    banks) replace smooth.cu 'PITCH = 1' 'PITCH = 32' ;;
    barriers) replace smooth.cu '    __syncthreads();' '    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < 64; step++)
        __syncthreads();' ;;
    memset) replace smooth.cu '    smooth_kernel<<<' '    for (int part = 0; part < 8; part++)
        cudaMemsetAsync(y + part * (n / 8), 0, n / 8 * sizeof *y, (cudaStream_t)stream);
    smooth_kernel<<<' ;;
    local) replace clamp.cu 'y[i] = fmaxf(fminf(x[i], 1), -1);' '{
            float row[32];
            for (int k = 31; k >= 0; k--)
                row[(i / 32 + k) % 32] = x[i] + k;
            y[i] = fmaxf(fminf(row[(i / 32 + (n >> 30)) % 32], 1), -1);
        }' ;;
    loads) replace clamp.cu 'y[i] = fmaxf(fminf(x[i], 1), -1);' '{
            float value = -1;
#pragma unroll
            for (int again = 0; again < 32; again++)
                value = fmaxf(value, ((const volatile float *)x)[i]);
            y[i] = fminf(value, 1);
        }' ;;
    atomic) replace blend.cu 'y[i] = 0.5f * y[i] + 0.5f * x[i];' '{
            float step = (x[i] - y[i]) / 64;
            for (int k = 0; k < 32; k++)
                atomicAdd(&y[i], step);
        }' ;;
    stride) replace blend.cu 'y[i] = 0.5f * y[i] + 0.5f * x[i];' '{
            int rows = n / 1024, at = i < rows * 1024 ? i % 1024 * rows + i / 1024 : i;
            y[at] = 0.5f * y[at] + 0.5f * x[at];
        }' ;;
    esac
}

plant_cause() {
    case $1 in
    double) echo 'scale_kernel double 0 to' ;;
    division) echo 'scale_kernel special 0 to' ;;
    blocks) echo 'scale arithmetic [0-9]+ to' ;;
    banks) echo 'smooth_kernel bytes of shared memory [0-9]+ to' ;;
    barriers) echo 'smooth_kernel barriers 1 to 2' ;;
    memset) echo 'smooth now calls .*cudaMemsetAsync' ;;
    local) echo 'clamp_kernel local memory 0 to' ;;
    loads) echo 'clamp_kernel global memory 2 to 33' ;;
    atomic) echo 'blend_kernel atomics 0 to' ;;
    stride) echo 'blend_kernel integer multiply [0-9]+ to' ;;
    esac
}
