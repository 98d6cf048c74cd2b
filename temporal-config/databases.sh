#!/bin/sh
# The roles and databases of Bursar and of Temporal; safe to run at every start, and a changed password is taken over.
# For any image with psql. Needs PGHOST PGUSER PGPASSWORD of an administrator, BURSAR_DB_PASSWORD, BURSAR_APP_DB_PASSWORD,
# TEMPORAL_DB_PASSWORD. `bursar` owns Bursar's schema and runs its migrations; its processes run as `bursar_app`.
set -eu
: "${BURSAR_DB_PASSWORD:?}" "${BURSAR_APP_DB_PASSWORD:?}" "${TEMPORAL_DB_PASSWORD:?}"
# Passwords reach psql through its environment: a command line can be read by everybody on the machine.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv bursar_password BURSAR_DB_PASSWORD
\getenv app_password BURSAR_APP_DB_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD
select format('create role %I login', name) from unnest(array['bursar', 'bursar_app', 'temporal']) as name
  where not exists (select from pg_roles where rolname = name) \gexec
alter role bursar password :'bursar_password';
alter role bursar_app password :'app_password';
alter role temporal password :'temporal_password';
-- Text is ordered by its bytes, as in the embedded database that every test runs on.
select $$create database bursar owner bursar template template0 encoding 'UTF8'
  locale_provider builtin builtin_locale 'C.UTF-8' locale 'C'$$
  where not exists (select from pg_database where datname = 'bursar') \gexec
select format('create database %I owner temporal', name) from unnest(array['temporal', 'temporal_visibility']) as name
  where not exists (select from pg_database where datname = name) \gexec
SQL
echo 'databases ready: bursar, temporal, temporal_visibility'
