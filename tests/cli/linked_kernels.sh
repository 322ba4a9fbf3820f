#!/usr/bin/env bash
# A folder of kernels that is a link, or a repository of its own, is part of what the program is
# built from: scripts/provenance.sh reads its files.
. "$(dirname "$0")/lib.sh"

git init -q tree && cd tree || exit 1
git config user.email a@example.org && git config user.name a
mkdir kernels && echo one >kernels/one.c && git add . && git commit -qm one
changes() { sh "$HERE/../scripts/provenance.sh" 1.0 cc "" | sed -n 's/#define PROVENANCE_CHANGES //p'; }
check "a clean tree has no changes" gives '""' changes
mkdir ../elsewhere && echo two >../elsewhere/two.c
ln -s "$PWD/../elsewhere" kernels/mine
check "a linked folder is read" silent changes
before=$(changes)
check "and is a change" [ "${#before}" -eq 34 ]
echo three >../elsewhere/two.c
check "another text in it is another change" fails gives "$before" changes
rm kernels/mine
git init -q kernels/own && echo four >kernels/own/four.c
check "a repository in it is read" silent changes
check "and is a change too" fails gives '""' changes
rm -r kernels/own
ln -s nowhere kernels/gone.c
check "a link to nothing is no error" silent changes
