#!/bin/sh
# Write the tables of large products, of few rows and of layers into docs/kernels-lut.md, between their
# marks, from a published run of the suite lut:
#
#   scripts/lut-doc.sh [PROGRAM [NDJSON]]     default: build/assay results/h200/lut.ndjson.zst
#
# Measures nothing; a place stays empty where the run has no row that is ok.
set -eu
cd "$(dirname "$0")/.."
assay=${1:-build/assay}
run=${2:-results/h200/lut.ndjson.zst}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$assay" import --db "$scratch/lut.sqlite" "$run" >&2
# 1, 3 and 5 say something of the cases in it, which is not asked here.
"$assay" show --db "$scratch/lut.sqlite" --format csv >"$scratch/lut.csv" || [ $? -ne 2 ]

# pivot OPERATION SHAPE VARIANT...: a row a code, a column a variant, in microseconds. SHAPE is
# how the shape begins. No field before the time has a comma in it.
pivot() {
    operation=$1 shape=$2
    shift 2
    awk -F, -v operation="$operation" -v shape="$shape" -v variants="$*" '
        function us(ns) { return sprintf(ns < 99950 ? "%.1f" : "%.0f", ns / 1000) }
        BEGIN {
            count = split(variants, variant, " ")
            codes = split("q2m1 q2m2 q4m1 q4m2", code, " ")
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["operation"] == operation && index($at["shape"], shape " ") == 1 &&
            $at["status"] == "ok" {
            split($at["shape"], word, /code=/)
            split(word[2], rest, " ")
            cell[rest[1], $at["variant"]] = us($at["time_ns"])
            has[rest[1]] = 1
        }
        END {
            for (c = 1; c <= codes; c++) any += has[code[c]]
            if (!any) {
                print "(not in the published run)"
                exit
            }
            printf "|"
            for (v = 1; v <= count; v++) printf " | `%s`", variant[v]
            printf " |\n|---|"
            for (v = 1; v <= count; v++) printf "---|"
            for (c = 1; c <= codes; c++) {
                if (!has[code[c]]) continue
                printf "\n| (%s,%s)", substr(code[c], 2, 1), substr(code[c], 4, 1)
                for (v = 1; v <= count; v++) {
                    value = cell[code[c], variant[v]]
                    printf value == "" ? " |" : " | %s", value
                }
                printf " |"
            }
            print ""
        }' "$scratch/lut.csv"
}

# place NAME: what stands in NAME.md goes between the marks of that name.
place() {
    awk -v name="$1" -v table="$scratch/$1.md" '
        $0 == "<!-- " name " ends -->" { inside = 0 }
        !inside { print }
        index($0, "<!-- " name " begins") == 1 {
            inside = 1
            while ((getline line < table) > 0) print line
        }' docs/kernels-lut.md >"$scratch/doc.md"
    cat "$scratch/doc.md" >docs/kernels-lut.md
}

pivot lut_matmul 'rows=8192 k=8192 columns=8192' decode_imma_staged decode_imma \
    cublaslt_int8_product cublaslt_int8 >"$scratch/large.md"
pivot quantized_linear 'rows=1024 k=4096 columns=4096' encode_imma_staged encode_imma \
    cublaslt_int8_product cublas_bf16 cublas_tf32 cublas_fp32 >"$scratch/layer-1024.md"
pivot quantized_linear 'rows=16 k=4096 columns=4096' encode_gemv encode_imma_staged \
    cublaslt_int8_product cublas_bf16 cublas_tf32 cublas_fp32 >"$scratch/layer-16.md"
place large
place layer-1024
place layer-16
for rows in 1 8 16; do
    one_row=
    [ "$rows" = 1 ] && one_row=decode_gemv_bits
    # shellcheck disable=SC2086 # nothing, or one variant
    pivot lut_matmul "rows=$rows k=8192 columns=28672" decode_gemv $one_row table_gemv cublas_bf16 \
        cublaslt_int8 >"$scratch/gemv-$rows.md"
    place "gemv-$rows"
done
