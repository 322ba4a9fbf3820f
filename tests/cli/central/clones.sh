# shellcheck shell=bash
# Databases of many runs, without measuring them; sourced after lib.sh.

# clones COUNT FILE: one run of 200 cases of a simulated device, and copies of it whose ids begin otherwise.
clones() {
    local ids table
    rm -f cloned.sqlite
    many_groups 100 hundred.ini
    "$ASSAY" run hundred.ini --device sim --db cloned.sqlite >/dev/null 2>&1
    "$ASSAY" merge cloned.sqlite --db "$2" 2>/dev/null
    # Its queries close the database while the last one attaches it, which locks it for a moment.
    {
        echo "PRAGMA foreign_keys = OFF; ATTACH 'cloned.sqlite' AS cloned;"
        for ids in run:id launch:id,run_id expected:launch_id result:id,launch_id sample:result_id; do
            table=${ids%:*}
            query cloned.sqlite "SELECT 'INSERT INTO main.$table SELECT ' || group_concat(iif(instr(',${ids#*:},', ',' || name || ','),
                'printf(''%06x'', value) || substr(' || name || ', 7)', name)) || ' FROM cloned.$table, generate_series(2, $1);'
                FROM pragma_table_info('$table')"
        done
    } | sqlite3 -batch -cmd '.timeout 10000' "$2"
}
