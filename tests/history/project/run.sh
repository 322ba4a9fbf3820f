#!/bin/sh
# The program with the variant of this build.
command=$1
shift
exec "@PROGRAM@" "$command" "$@" --load "$(dirname "$0")/libassay_variants.so"
