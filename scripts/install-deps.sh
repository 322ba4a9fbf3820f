#!/bin/sh
# Install with apt what is missing of the things a task needs.
#
#   install-deps.sh TASK...      run: build, measure, draw; test: the tests;
#                                fuzz: clang, for its libFuzzer;
#                                browser: Chromium, for the report's; style:
#                                clang-format and shellcheck; deb: make a package;
#                                shells: what the man page and completion are tried in;
#                                launchers: Slurm and Open MPI, for the tests of shares;
#                                postgres: a server for the tests of the central store
#
# A thing is there when it works (the compiler finds the header, the command
# runs), whichever package brought it. Nothing missing: silent, nothing asked of
# apt. Neither root nor sudo without a password: prints the line to run, exit 2.
set -eu

# shellcheck disable=SC2086 # CC may be several words (ccache gcc)
compiler=${CC:-cc}
missing=""
need() { # PACKAGE PROBE [ARGUMENT]
    package=$1
    shift
    "$@" >/dev/null 2>&1 || case " $missing " in
        *" $package "*) ;;
        *) missing="$missing $package" ;;
    esac
}

command_works() { command -v "$1"; }
header_found() { printf '#include <%s>\n' "$1" | $compiler -E -x c -; }
library_found() { [ "$($compiler -print-file-name="lib$1")" != "lib$1" ]; }
nvcc_found() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }

need_to_run() {
    need gcc command_works "${compiler%% *}"
    need libc6-dev header_found stdio.h
    need libinih-dev header_found ini.h
    need libsqlite3-dev header_found sqlite3.h
    need libzstd-dev header_found zstd.h
    need libopenblas-dev header_found cblas.h
    need libopenblas-dev library_found openblas.so
    need gnuplot-nox command_works gnuplot
    need libjs-chart.js test -r /usr/share/javascript/chart.js/chart.min.js
    if nvcc_found; then need g++ command_works g++; fi
}

need_to_test() {
    need libcmocka-dev header_found cmocka.h
    need g++ command_works g++
    need sqlite3 command_works sqlite3
    need zstd command_works zstd
    need git command_works git
    need patch command_works patch
    need python3-jsonschema module_found jsonschema
    need python3-numpy module_found numpy
}
# Debian's are for its own python, which need not be the first one.
module_found() {
    python3 -c "import $1" || /usr/bin/python3 -c "import $1"
}

need_to_fuzz() {
    need clang command_works clang
}

# On Ubuntu the package of this name is a snap, which a container cannot run: a
# browser that is there under another name will do.
need_a_browser() {
    need chromium browser_found
}
browser_found() {
    command_works chromium || command_works chromium-browser || command_works google-chrome
}

need_for_style() {
    need clang-format command_works clang-format
    need shellcheck command_works shellcheck
}

need_for_deb() {
    need dpkg-dev command_works dpkg-shlibdeps
    need binutils command_works strip
}

need_for_a_wheel() {
    need python3 command_works "${PYTHON:-python3}"
    need libpython3-dev header_of_python_found
    need python3-venv "${PYTHON:-python3}" -c 'import ensurepip'
}
header_of_python_found() {
    "${PYTHON:-python3}" -c 'import sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")'
}

need_shells() {
    need man-db command_works man
    need groff-base command_works groff
    need zsh command_works zsh
}

# Without settings of the machine's own, the daemons that come with them do not start.
need_launchers() {
    need slurmctld command_of_root slurmctld
    need slurmd command_of_root slurmd
    need slurm-client command_works srun
    need munge command_of_root munged
    need openmpi-bin command_works mpirun
}
command_of_root() { PATH=$PATH:/usr/sbin command -v "$1"; }

need_postgres() {
    need postgresql postgres_found
}
postgres_found() {
    command_works psql && { command_works initdb || ls /usr/lib/postgresql/*/bin/initdb; }
}

for task in "$@"; do
    case $task in
        run) need_to_run ;;
        test) need_to_test ;;
        browser) need_a_browser ;;
        fuzz) need_to_fuzz ;;
        style) need_for_style ;;
        deb) need_for_deb ;;
        shells) need_shells ;;
        launchers) need_launchers ;;
        wheel) need_for_a_wheel ;;
        postgres) need_postgres ;;
        *) echo "install-deps.sh: no such task: $task" >&2; exit 2 ;;
    esac
done

if [ -e /dev/nvidiactl ] && ! nvcc_found; then
    echo "There is an NVIDIA GPU here but no nvcc, so only the host device is built." >&2
    echo "With the CUDA toolkit (12.0 or newer) installed, the GPU is measured too." >&2
fi

[ -n "$missing" ] || exit 0
missing=${missing# }

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing, by their Debian names: $missing" >&2
    echo "There is no apt here: install them (or what your system calls them) and try again." >&2
    exit 2
fi

line="apt-get update && apt-get install --no-install-recommends $missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "Missing: $missing. As root, run:" >&2
    echo "    $line" >&2
    exit 2
fi

apt() {
    # A fresh machine may be upgrading itself: wait for its lock. One that is
    # offline should not be waited for.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=1 -o Acquire::http::Timeout=30 "$@" \
        </dev/null >>"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing with apt: $missing" >&2
# A list that cannot be fetched matters only if the packages cannot be either.
apt update || true
# shellcheck disable=SC2086 # a list of words
if ! apt install --no-install-recommends $missing; then
    grep -E '^(E|Err|W):' "$log" | head -n 3 >&2 || true
    echo "apt could not install: $missing (is this machine online?). Once it is, run as root:" >&2
    echo "    $line" >&2
    exit 2
fi
