#!/bin/sh
# Namespace (runs are kept 30 days) and search attributes; safe to run at every start. Needs the Temporal CLI and reads
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. `node src/main/temporal-setup.ts` does the same without the CLI.
set -eu
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}"
here=$(cd "$(dirname "$0")" && pwd)

i=0
until temporal operator namespace describe -n temporal-system >/dev/null 2>&1; do
  i=$((i + 1))
  [ "$i" -lt 60 ] || { echo "no Temporal server answers at $TEMPORAL_ADDRESS" >&2; exit 1; }
  sleep 1
done

# the last failure is told, those before it are part of waiting
retry() {
  n=0
  until said=$("$@" 2>&1); do
    n=$((n + 1))
    [ "$n" -lt 30 ] || { echo "$said" >&2; return 1; }
    sleep 1
  done
}

temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  retry temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention 30d
# a namespace made a moment ago is not known everywhere for about two seconds, hence the retry
retry temporal operator namespace update -n "$TEMPORAL_NAMESPACE" --retention 30d

# the lines of search-attributes.json look like:  "BursarOwnerId": "Keyword",
set --
query=
for pair in $(sed -n 's/^ *"\([A-Za-z]*\)": *"\([A-Za-z]*\)",\{0,1\}$/\1:\2/p' "$here/search-attributes.json"); do
  set -- "$@" --name "${pair%%:*}" --type "${pair##*:}"
  query="${query:+$query AND }${pair%%:*} = 'x'"
done
retry temporal operator search-attribute create -n "$TEMPORAL_NAMESPACE" "$@"

# a query that names a new attribute is refused until the server has refreshed its list
i=0
until temporal workflow count -n "$TEMPORAL_NAMESPACE" --query "$query" >/dev/null 2>&1; do
  i=$((i + 1))
  [ "$i" -lt 30 ] || { echo 'the search attributes do not become usable' >&2; exit 1; }
  sleep 1
done
echo "temporal ready: namespace $TEMPORAL_NAMESPACE"
