-- The two roles of a central store of assay, and what each may do. Run by the store's owner, who may
-- make roles, after `assay push --schema | psql URL`, and again with each newer version:
--
--     psql -v ON_ERROR_STOP=1 -f central-store-roles.sql postgres://owner@db.example/assay
--
-- Then give them to people and machines:
--
--     CREATE ROLE node LOGIN IN ROLE assay_writer;
--     CREATE ROLE ann LOGIN IN ROLE assay_reader;
SELECT 'CREATE ROLE ' || name || ' NOLOGIN' FROM (VALUES ('assay_reader'), ('assay_writer')) AS role (name)
WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name)
\gexec

-- A reader: list, show, compare, history, plot, report, claims, pull.
GRANT USAGE ON SCHEMA assay TO assay_reader, assay_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA assay TO assay_reader, assay_writer;

-- A writer: push as well. It adds rows, and changes what may change of one: the end of a run or launch,
-- a block of noise that has more rounds, and the store's own account of what was pushed. It deletes
-- nothing. Rows go by way of temporary tables.
GRANT TEMPORARY ON DATABASE :"DBNAME" TO assay_writer;
GRANT INSERT ON ALL TABLES IN SCHEMA assay TO assay_writer;
REVOKE INSERT ON assay.schema_version FROM assay_writer;
GRANT UPDATE (status, ended_at) ON assay.run TO assay_writer;
-- Of a launch: what is NULL until it has ended.
SELECT format('GRANT UPDATE (%I) ON assay.launch TO assay_writer', column_name)
FROM information_schema.columns WHERE table_schema = 'assay' AND table_name = 'launch' AND is_nullable = 'YES'
\gexec
GRANT UPDATE (rounds, time_ns, shift, spread, measured_at) ON assay.noise TO assay_writer;
GRANT UPDATE (state, pushed_at) ON assay.pushed TO assay_writer;
GRANT UPDATE (cases, ok, wrong) ON assay.counted TO assay_writer;
