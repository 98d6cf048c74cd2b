#!/bin/sh
# Creates or upgrades the schema of both databases of a Temporal cluster on PostgreSQL; safe to run at every start. For
# the image temporalio/admin-tools: the schema files are inside its temporal-sql-tool. Needs SQL_HOST SQL_PORT SQL_USER
# SQL_PASSWORD and SQL_PLUGIN=postgres12_pgx; the databases exist and belong to that user (databases.sh).
set -eu
for pair in temporal:temporal temporal_visibility:visibility; do
  db=${pair%%:*} schema=postgresql/v12/${pair##*:}
  temporal-sql-tool --quiet --db "$db" setup-schema -v 0.0
  temporal-sql-tool --quiet --db "$db" update-schema --schema-name "$schema"
done
echo 'schema ready: temporal, temporal_visibility'
