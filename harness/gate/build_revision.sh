#!/bin/sh
# build_revision.sh REVISION FOLDER COMMAND - build a revision of git once and write its program's path to
# standard output; program_build.c has this text in itself. FOLDER is the folder of all builds, COMMAND
# what makes build/assay. Exit code 3: there is no such revision. What is half built is in a folder of
# this process alone, which is renamed at the end, so that another build of the same commit is no harm.
commit=$(git rev-parse --verify --quiet --end-of-options "$1^{commit}" 2>/dev/null) || exit 3
built=$2/$commit-$(printf %s "$3" | cksum | cut -d' ' -f1)
[ -x "$built/assay" ] && { echo "$built/assay"; exit 0; }
new=$built.$$ log=$built.log
mkdir -p "$new" || exit 1
echo "assay: building $1 (commit $(printf %.8s "$commit"); its log: $log)" >&2
tidy() {
    git worktree remove --force "$new/source"
    rm -rf "$new"
    git worktree prune
} >/dev/null 2>&1
trap tidy EXIT
trap 'exit 1' HUP INT TERM
{
    git worktree add --force --detach "$new/source" "$commit" &&
    (cd "$new/source" && unset MAKEFLAGS MFLAGS MAKELEVEL GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE && sh -c "$3") &&
    cp "$new/source/build/assay" "$new/assay" &&
    { [ ! -f "$new/source/build/libassay_variants.so" ] || cp "$new/source/build/libassay_variants.so" "$new"; } &&
    { [ ! -d "$new/source/suites" ] || cp -R "$new/source/suites" "$new/suites"; } &&
    git worktree remove --force "$new/source" &&
    { mv -T "$new" "$built" || [ -x "$built/assay" ]; }
} >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
echo "$built/assay"
