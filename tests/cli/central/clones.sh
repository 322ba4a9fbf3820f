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

# shards COUNT GROUPS: shards/1000.sqlite and so on, each a run of its own of one simulated device with GROUPS groups of
# two cases; shard.sql makes one of the database one.sqlite.
shards() {
    local i column
    many_groups "$2" many.ini
    "$ASSAY" run many.ini --device sim --db one.sqlite >/dev/null 2>&1
    {
        echo "PRAGMA foreign_keys = OFF;"
        for column in run.id launch.id launch.run_id expected.launch_id result.id result.launch_id \
            sample.result_id metric.result_id; do
            echo "UPDATE ${column%.*} SET ${column#*.} = 'SHARD!' || substr(${column#*.}, 7);"
        done
    } >shard.sql
    mkdir shards
    for ((i = 1000; i < 1000 + $1; i++)); do
        sqlite3 one.sqlite "VACUUM INTO 'shards/$i.sqlite'"
        sed "s/SHARD!/ab$i/" shard.sql | sqlite3 -batch "shards/$i.sqlite"
    done
}
