#!/usr/bin/env bash
# What is installed runs where it was put, without the sources; and so does the
# package, which dpkg takes in and out again.
. "$(dirname "$0")/lib.sh"
root=$(cd "$HERE/.." && pwd)
build=$(dirname "$ASSAY")
build=${build#"$root/"} # of make, which takes no blanks
printf '[suite]\nbudget = 0.01\n[group a]\noperation = int8_quantize\nn = 1000, 2000\nvariants = host_memcpy\n' >one.ini

# make_as_built TARGET...: without building anything again with other flags.
make_as_built() { make -C "$root" -o "$build/assay" -o "$build/assay.1" BUILD="$build" CUDA=0 "$@"; }

# works PREFIX: the program in it runs from elsewhere, finds its suites and its plots.
works() {
    local assay=$1/bin/assay
    rm -f run.sqlite run.svg
    "$assay" run smoke --dry-run --device host >said.out 2>said.err &&
        "$assay" run ./one.ini --device host --no-ceilings --db run.sqlite >said.out 2>said.err &&
        "$assay" plot sweep --db run.sqlite -o run.svg && [ -s run.svg ]
}

check "make says that it takes no blanks in BUILD" ends 2 "BUILD=a b: one folder, whose path has no blanks" \
    make -C "$root" -n clean BUILD="a b"
check "a prefix with a blank, inside DESTDIR" \
    exits 0 make_as_built install DESTDIR="$TMP/a stage" PREFIX=/opt/assay
stage="$TMP/a stage/opt/assay"
check "it runs there" works "$stage"
check "wherever it is moved" mv "$stage" moved
check "with all that is its own" works "$TMP/moved"
for file in bin/assay share/assay/suites/core.ini share/assay/plots/style.gp share/man/man1/assay.1 \
    share/bash-completion/completions/assay share/zsh/site-functions/_assay share/doc/assay/README.md \
    share/doc/assay/docs/method.md share/doc/assay/docs/schemas/show.json; do
    check "it has $file" test -s "moved/$file"
done
# What is outside the tree is built by what is installed.
cp "$HERE/object/kernel.c" . && cp "$HERE/object/twice.ini" .
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$TMP/moved/share/pkgconfig
    check "pkg-config knows the version" gives "$(cat "$root/VERSION")" pkg-config --modversion assay
    # shellcheck disable=SC2046 # flags
    check "and where assay.h is" exits 0 "${CC:-cc}" -shared -fPIC $(pkg-config --cflags assay) kernel.c -o twice.so
    check "an object of it is measured" exits 0 moved/bin/assay run ./twice.ini --load ./twice.so \
        --device host --no-ceilings --db twice.sqlite
fi
if command -v cmake >/dev/null; then
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(twice C)' \
        'find_package(assay 0.1 REQUIRED)' 'add_library(twice MODULE kernel.c)' \
        'target_link_libraries(twice PRIVATE assay::assay)' >CMakeLists.txt
    check "CMake finds it" exits 0 cmake -S . -B with_cmake -DCMAKE_PREFIX_PATH="$TMP/moved"
    check "and builds with it" exits 0 cmake --build with_cmake
fi
if command -v cmake >/dev/null; then
    cp -r "$root/examples/cmake" project
    check "a project of CMake finds it too" exits 0 cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$TMP/moved"
    check "and builds what measures its function" exits 0 cmake --build project/build
    check "which is right" exits 0 moved/bin/assay run project/measure/softsign.ini \
        --load project/build/softsign_measured.so --device host --no-ceilings --budget 0.01 --db p.sqlite
    check "without assay it builds as before" exits 0 cmake -S project -B project/without
fi
check "a folder of one's own is made there" exits 0 moved/bin/assay new mine
check "and builds with what is installed" grep -q "ASSAY_INCLUDE ?= $TMP/moved/include" mine/Makefile

check "what is installed can be read by all" gives "" find moved -type f ! -perm -444
check "nothing was put beside it" gives opt ls "a stage"
check "its man page is the help of its commands" cmp moved/share/man/man1/assay.1 \
    <("$ASSAY" help --man)
check "uninstall" exits 0 make_as_built uninstall DESTDIR= PREFIX="$TMP/moved"
check "leaves no file" gives "" find moved -type f
if [ "$(id -u)" != 0 ]; then
    mkdir closed && chmod a-w closed
    check "a folder that cannot be written is an error" fails make_as_built install PREFIX="$TMP/closed"
fi

if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    skipped "the package: there is no dpkg-deb or dpkg-shlibdeps (apt-get install dpkg-dev)"
    exit
fi
# Made beside what is built; the copy here is this test's own.
make_package() { (cd "$root" && scripts/deb.sh "$build" "$(cat VERSION)" host); }
export DPKG_DEB_COMPRESSOR_LEVEL=1 # of seconds, not of half a minute
check "a package" exits 0 make_package
deb=$(dirname "$ASSAY")/$(basename "$(cat said.out)")
cp "$deb" assay.deb
make_package >/dev/null
check "the same again, byte for byte" cmp assay.deb "$deb"
check "its version is that of the program" gives "$(cat "$root/VERSION")-1" dpkg-deb -f assay.deb Version
check "it depends on SQLite" says "libsqlite3-0 (>= 3.37)" dpkg-deb -f assay.deb Depends
check "and on what else its program is linked to" says "libc6" dpkg-deb -f assay.deb Depends
if "$ASSAY" --version | grep -q '^OpenBLAS: built without'; then
    check "not OpenBLAS, which it knows nothing of" fails says openblas dpkg-deb -f assay.deb
else
    check "OpenBLAS, which it loads, it recommends" says libopenblas0 dpkg-deb -f assay.deb Recommends
    check "and runs without" fails says openblas dpkg-deb -f assay.deb Depends
fi
check "it is root's" gives "" bash -c "dpkg-deb -c assay.deb | grep -v ' root/root '"
check "and writes below usr only" gives "" bash -c "dpkg-deb -c assay.deb | grep -vE ' \./(usr/.*)?$'"

# A system of its own for dpkg, with nothing in it: neither this machine's packages nor
# its files are touched.
mkdir -p system/var/lib/dpkg/info system/var/lib/dpkg/updates
touch system/var/lib/dpkg/status
of_system() {
    PATH=$PATH:/usr/sbin:/sbin dpkg --root="$TMP/system" --log=/dev/null --force-not-root --force-depends \
        --force-bad-path "$@"
}
check "dpkg takes it" exits 0 of_system -i assay.deb
check "as installed" gives "install ok installed" \
    dpkg-query --admindir="$TMP/system/var/lib/dpkg" -W -f '${Status}' assay
check "whole" gives "" of_system --verify assay
check "it runs" works "$TMP/system/usr"
check "and says its version" says "assay $(cat "$root/VERSION")" system/usr/bin/assay --version
check "its man page is there" bash -c "gzip -dc system/usr/share/man/man1/assay.1.gz | cmp - <('$ASSAY' help --man)"
check "dpkg takes it out again" exits 0 of_system -P assay
check "all of it" gives "" find system -path system/var -prune -o -type f -print
