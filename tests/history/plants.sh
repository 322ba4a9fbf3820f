# shellcheck shell=bash
# The regressions that planted.sh plants. plant NAME writes one into the project in the current folder;
# plant_names lists them; plant_cause NAME gives the function that is slower and, as an extended regular
# expression, what the line about that function must say. Stated before any search was run.

# shellcheck disable=SC2034 # planted.sh reads it
plant_names="scalar double division malloc passes borders modulo pointer atomic order branches fminf sqrt
bytes mutex unoptimised getenv clock memset powf"

# write FILE PROLOGUE BODY: the stage FILE.c, as stages.h declares it.
write() {
    printf '#define _GNU_SOURCE\n#include "stages.h"\n%s\n\n%s\nvoid %s(float *restrict y, const float *restrict x, int n)\n{\n%s\n}\n' \
        "$2" "${4-}" "$1" "$3" >"$1.c"
}

plant() {
    case $1 in
    scalar) write scale '' '    for (int i = 0; i < n; i++)
        y[i] = x[i] * 1.5f + 0.25f;' '__attribute__((optimize("no-tree-vectorize")))' ;;
    double) write scale '' '    for (int i = 0; i < n; i++)
        y[i] = (float)(x[i] * 1.5000000001 / 1.0000000001 + 0.25);' ;;
    division) write scale 'static volatile float part = 2.0f / 3;' '    for (int i = 0; i < n; i++)
        y[i] = x[i] / part + 0.25f;' ;;
    malloc) write scale '#include <stdlib.h>' '    for (int i = 0; i < n; i++) {
        float *one = malloc(sizeof *one);
        *(volatile float *)one = x[i] * 1.5f;
        y[i] = *one + 0.25f;
        free(one);
    }' ;;
    passes) write scale '' '    for (int pass = 0; pass < 12; pass++) {
        for (int i = 0; i < n; i++)
            y[i] = x[i] * 1.5f + 0.25f;
        __asm__ volatile("" ::: "memory");
    }' ;;
    borders) write smooth '' '    volatile int last = n - 1;
    for (int i = 0; i < n; i++)
        y[i] = i == 0 || i == last ? x[i] : (x[i - 1] + x[i] + x[i + 1]) * (1.0f / 3);' ;;
    modulo) write smooth '' '    y[0] = x[0];
    for (int i = 1; i < n - 1; i++)
        y[i] = (x[(i + n - 1) % n] + x[i] + x[(i + 1) % n]) * (1.0f / 3);
    y[n - 1] = x[n - 1];' ;;
    pointer) write smooth 'static float mean(float a, float b, float c) { return (a + b + c) * (1.0f / 3); }
static float (*volatile how)(float, float, float) = mean;' '    y[0] = x[0];
    for (int i = 1; i < n - 1; i++)
        y[i] = how(x[i - 1], x[i], x[i + 1]);
    y[n - 1] = x[n - 1];' ;;
    atomic) write smooth 'static int done;' '    y[0] = x[0];
    for (int i = 1; i < n - 1; i++) {
        y[i] = (x[i - 1] + x[i] + x[i + 1]) * (1.0f / 3);
        __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    }
    y[n - 1] = x[n - 1];' ;;
    order) write smooth '' '    y[0] = x[0];
    for (int first = 1; first <= 64; first++)
        for (int i = first; i < n - 1; i += 64)
            y[i] = (x[i - 1] + x[i] + x[i + 1]) * (1.0f / 3);
    y[n - 1] = x[n - 1];' ;;
    branches) write clamp '' '    for (int i = 0; i < n; i++) {
        if (x[i] > 1) {
            y[i] = 1;
            __asm__ volatile("");
        } else if (x[i] < -1) {
            y[i] = -1;
            __asm__ volatile("");
        } else {
            y[i] = x[i];
        }
    }' ;;
    fminf) write clamp '#include <math.h>' '    for (int i = 0; i < n; i++)
        y[i] = fmaxf(fminf(x[i], 1), -1);' ;;
    sqrt) write clamp '#include <math.h>' '    for (int i = 0; i < n; i++) {
        float size = __builtin_sqrtf(x[i] * x[i]);
        y[i] = size > 1 ? x[i] / size : x[i];
    }' ;;
    bytes) write clamp '' '    for (int i = 0; i < n; i++) {
        float value = x[i] < 1 ? x[i] : 1;
        value = value > -1 ? value : -1;
        volatile char *to = (volatile char *)&y[i];
        const char *from = (const char *)&value;
        for (int byte = 0; byte < 4; byte++)
            to[byte] = from[byte];
    }' ;;
    mutex) write clamp '#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;' '    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&lock);
        float value = x[i] < 1 ? x[i] : 1;
        y[i] = value > -1 ? value : -1;
        pthread_mutex_unlock(&lock);
    }' ;;
    unoptimised) write blend '' '    for (int i = 0; i < n; i++)
        y[i] = 0.5f * y[i] + 0.5f * x[i];' '__attribute__((optimize("O0")))' ;;
    getenv) write blend '#include <stdlib.h>' '    for (int i = 0; i < n; i++) {
        if (i % 16 == 0 && getenv("FILTER_BLEND")) continue;
        y[i] = 0.5f * y[i] + 0.5f * x[i];
    }' ;;
    clock) write blend '#include <time.h>
static struct timespec at;' '    for (int i = 0; i < n; i++) {
        if (i % 16 == 0) clock_gettime(CLOCK_MONOTONIC, &at);
        y[i] = 0.5f * y[i] + 0.5f * x[i];
    }' ;;
    memset) write blend '#include <string.h>
static char scratch[1 << 20];' '    memset(scratch, n & 1, sizeof scratch);
    __asm__ volatile("" ::"r"(scratch) : "memory");
    for (int i = 0; i < n; i++)
        y[i] = 0.5f * y[i] + 0.5f * x[i];' ;;
    powf) write blend '#include <math.h>
static volatile float one = 1;' '    for (int i = 0; i < n; i++)
        y[i] = 0.5f * y[i] + powf(2, -one) * x[i];' ;;
    esac
}

plant_cause() {
    case $1 in
    scalar) echo 'scale packed [0-9]+ to 0' ;;
    double) echo 'scale divisions 0 to' ;;
    division) echo 'scale divisions 0 to' ;;
    malloc) echo 'scale now calls .*malloc' ;;
    passes) echo 'scale jumps [0-9]+ to' ;;
    borders) echo 'smooth packed [0-9]+ to' ;;
    modulo) echo 'smooth divisions 0 to' ;;
    pointer) echo 'smooth calls 0 to 1' ;;
    atomic) echo 'smooth atomics 0 to 1' ;;
    order) echo 'smooth packed [0-9]+ to' ;;
    branches) echo 'clamp packed [0-9]+ to' ;;
    fminf) echo 'clamp now calls .*fm(in|ax)f' ;;
    sqrt) echo 'clamp divisions 0 to' ;;
    bytes) echo 'clamp moves [0-9]+ to' ;;
    mutex) echo 'clamp now calls .*pthread_mutex_lock' ;;
    unoptimised) echo 'blend packed [0-9]+ to' ;;
    getenv) echo 'blend now calls .*getenv' ;;
    clock) echo 'blend now calls .*clock_gettime' ;;
    memset) echo 'blend (now calls .*memset|string 0 to 1)' ;;
    powf) echo 'blend now calls .*(powf|exp2f)' ;;
    esac
}
