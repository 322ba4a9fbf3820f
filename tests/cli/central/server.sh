# shellcheck shell=bash
# A PostgreSQL server of the test's own: its data in a folder below /tmp, reached by a socket there and
# by no network. Sourced after lib.sh.

server_tools=$(dirname "$(command -v initdb || find /usr/lib/postgresql -name initdb 2>/dev/null | sort | tail -n 1)")

# Where there is none this is said, and is a failure if ASSAY_TEST_POSTGRES says so.
has_server() {
    [ ! -x "$server_tools/initdb" ] || ! command -v psql >/dev/null || return 0
    [ "${ASSAY_TEST_POSTGRES:-}" != required ] ||
        check "PostgreSQL is there (ASSAY_TEST_POSTGRES=required)" false
    skipped "the central store: there is no PostgreSQL (scripts/install-deps.sh postgres)"
    return 1
}

# The server refuses to be root, and that user must reach its folder, as TMP cannot be.
server_folder=$(mktemp -d /tmp/assay-central.XXXXXX)
if [ "$(id -u)" -eq 0 ]; then
    chown nobody "$server_folder"
    as_server() { setpriv --reuid=nobody --regid=65534 --clear-groups env HOME="$server_folder" "$@"; }
else
    as_server() { "$@"; }
fi
chmod 711 "$server_folder"

server_start() {
    (cd "$server_folder" && as_server "$server_tools/pg_ctl" -D data -w -l log \
        -o "-k $server_folder -c listen_addresses=''" start) >start.log 2>&1
}
server_answers() { psql -X -q "postgres://owner@/postgres?host=$server_folder" -c ''; }
# server_stop fast|immediate
server_stop() {
    (cd "$server_folder" && as_server "$server_tools/pg_ctl" -D data -w -m "$1" stop) >stop.log 2>&1
}
# Every role but the owner has a password.
server_make() {
    (cd "$server_folder" && as_server "$server_tools/initdb" -D data -U owner -A trust --no-sync \
        --locale=C -E UTF8) >init.log 2>&1 || return
    printf 'local all owner trust\nlocal all all scram-sha-256\n' >"$server_folder/data/pg_hba.conf"
    server_start
}
server_end() {
    server_stop immediate
    rm -rf "$server_folder"
}
trap 'server_end; exit $((checks_failed > 0 ? 1 : $?))' EXIT

# url ROLE: of the database `assay` on it.
url() { echo "postgres://$1@/assay?host=$server_folder"; }
# owner SQL: what the server answers its owner.
owner() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$(url owner)" -c "$1"; }
