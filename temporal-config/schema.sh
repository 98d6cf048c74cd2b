#!/bin/sh
# Creates or upgrades both databases of a Temporal cluster on PostgreSQL; safe to run at every start. For the image
# temporalio/admin-tools, which holds the schema files. Needs SQL_HOST SQL_PORT SQL_USER SQL_PASSWORD and
# SQL_PLUGIN=postgres12_pgx. CREATE_DB=1 also makes the databases (the role needs CREATEDB, even where they exist).
set -eu
for pair in temporal:temporal temporal_visibility:visibility; do
  db=${pair%%:*} schema=postgresql/v12/${pair##*:}
  [ "${CREATE_DB:-0}" = 0 ] || temporal-sql-tool -q --db "$db" create
  temporal-sql-tool --db "$db" setup-schema -v 0.0
  temporal-sql-tool --db "$db" update-schema --schema-name "$schema"
done
