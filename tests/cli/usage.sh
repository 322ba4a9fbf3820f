# shellcheck shell=bash
# What is typed wrong gets one clear line and exit 2; help is a result.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check "no command is a usage error" exits 2 "$ASSAY"
check "no command prints nothing on standard output" quiet "$ASSAY"

check "an unknown command is a usage error" exits 2 "$ASSAY" frobnicate
check "an unknown command gets one line" one_line "$ASSAY" frobnicate
check "an unknown command is named" warns frobnicate "$ASSAY" frobnicate
check "an unknown command prints nothing on standard output" quiet "$ASSAY" frobnicate
check "a command nearly right gets a suggestion" warns "'show'" "$ASSAY" shwo

for command in list run show plot history export import doctor compare gate calibrate baseline ack \
    merge push pull profile claims report help; do
    check "$command: an unknown option is a usage error" exits 2 "$ASSAY" "$command" --nosuch
    check "$command: an unknown option is named" warns nosuch "$ASSAY" "$command" --nosuch
    check "$command: the message begins with its name" \
        warns "assay $command: " "$ASSAY" "$command" --nosuch
    check "$command: has help" says "assay $command" "$ASSAY" help "$command"
    # An example stands as it is typed.
    "$ASSAY" help "$command" | awk '/^example: /, /^$/ { next } length > 80' >wide
    check "$command: its help fits 80 columns" [ ! -s wide ]
done

check "help is fine" exits 0 "$ASSAY" help
check "--help is the same" exits 0 "$ASSAY" --help
check "help names every command" says doctor "$ASSAY" help
check "help keeps the worker to itself" fails says worker "$ASSAY" help
check "help of an unknown command is a usage error" exits 2 "$ASSAY" help frobnicate

check "--version is fine" exits 0 "$ASSAY" --version
check "--version says the version" says "$(cat "$HERE/../VERSION")" "$ASSAY" --version

check "an option of the program nearly right gets a suggestion" warns "did you mean --version?" \
    "$ASSAY" --vresion
check "and is a usage error" exits 2 "$ASSAY" --vresion

check "an unknown suite is a usage error" exits 2 "$ASSAY" run nosuchsuite --dry-run
check "an unknown suite is named" warns nosuchsuite "$ASSAY" run nosuchsuite --dry-run
check "a suite nearly right gets a suggestion" warns core "$ASSAY" run cor --dry-run
check "an unknown device is a usage error" exits 2 "$ASSAY" run smoke --device toaster
check "a missing suite is a usage error" exits 2 "$ASSAY" run
check "a usage error makes no database" fails test -e results

# What every command takes.
quietly() { run "$ASSAY" run smoke --device sim --db q.sqlite "$@"; grep -c '^\[' said.err; }
check "a run tells its groups" [ "$(quietly)" -gt 1 ]
check "--quiet tells none" [ "$(quietly --quiet)" -eq 0 ]
check "and shows the table" says "speed-up" "$ASSAY" run smoke --device sim --db q.sqlite --quiet
check "a calibration tells no round either" fails warns "round 1" "$ASSAY" calibrate smoke --rounds 5 --quiet \
    --device sim --allow-simulated --db q.sqlite
check "and its end" warns "5 pairs of launches" "$ASSAY" calibrate smoke --rounds 5 --quiet \
    --device sim --allow-simulated --db q.sqlite
check "--color always colours a file" says $'\033[' "$ASSAY" show --db q.sqlite --color always
check "--color never does not" fails says $'\033[' "$ASSAY" show --db q.sqlite --color never
check "nor does a file by itself" fails says $'\033[' "$ASSAY" show --db q.sqlite
check "--color at another time is a usage error" exits 2 "$ASSAY" show --db q.sqlite --color sometimes
check "-V is --version" says "$(cat "$HERE/../VERSION")" "$ASSAY" -V
check "assay help names them" says "--quiet" "$ASSAY" help
