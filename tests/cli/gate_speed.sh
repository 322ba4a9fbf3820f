#!/usr/bin/env bash
# A gate of 200 cases takes seconds. By itself, as tests that measure their own time have the machine
# to themselves.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

check "200 cases take seconds" takes_less_than 10 "$ASSAY" gate "$HERE/sim/cases200.ini" --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2)" --allow-simulated --seed 1 --json g.json
check "all are judged" gives 200 json '$.counts.PASS'
check "launches have their rounds in their labels" gives "6|6" query "$ASSAY_DB" \
    "SELECT sum(label LIKE '%base'), sum(label LIKE '%candidate') FROM run JOIN launch ON run.id = run_id
     JOIN (SELECT launch_id, count(*) AS cases FROM result GROUP BY 1) ON launch_id = launch.id
     WHERE cases = 200"
