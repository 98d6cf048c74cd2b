-- An id as kernel/ids.ts makes them: 26 lower-case Crockford characters of a UUIDv7, five bits each, after two bits of 0.
-- Written out, because a delivery is made for each subscription to each event, and a loop over the characters took four
-- times as long.
create or replace function new_time_ordered_id(prefix text) returns text language plpgsql volatile
  set search_path = pg_catalog, pg_temp as $$
declare
  v_digits constant bytea := '0123456789abcdefghjkmnpqrstvwxyz';
  v_uuid constant bytea := uuid_send(uuidv7());
  -- The first byte is two characters; each of these three has five bytes, which are eight characters.
  a constant bigint := substr(v_uuid, 2, 5)::bigint;
  b constant bigint := substr(v_uuid, 7, 5)::bigint;
  c constant bigint := substr(v_uuid, 12, 5)::bigint;
begin
  return prefix || '_' || convert_from(
    substr(v_digits, 1 + (get_byte(v_uuid, 0) >> 5), 1) || substr(v_digits, 1 + (get_byte(v_uuid, 0) & 31), 1)
    || substr(v_digits, 1 + (a >> 35 & 31)::int, 1) || substr(v_digits, 1 + (a >> 30 & 31)::int, 1)
    || substr(v_digits, 1 + (a >> 25 & 31)::int, 1) || substr(v_digits, 1 + (a >> 20 & 31)::int, 1)
    || substr(v_digits, 1 + (a >> 15 & 31)::int, 1) || substr(v_digits, 1 + (a >> 10 & 31)::int, 1)
    || substr(v_digits, 1 + (a >> 5 & 31)::int, 1) || substr(v_digits, 1 + (a & 31)::int, 1)
    || substr(v_digits, 1 + (b >> 35 & 31)::int, 1) || substr(v_digits, 1 + (b >> 30 & 31)::int, 1)
    || substr(v_digits, 1 + (b >> 25 & 31)::int, 1) || substr(v_digits, 1 + (b >> 20 & 31)::int, 1)
    || substr(v_digits, 1 + (b >> 15 & 31)::int, 1) || substr(v_digits, 1 + (b >> 10 & 31)::int, 1)
    || substr(v_digits, 1 + (b >> 5 & 31)::int, 1) || substr(v_digits, 1 + (b & 31)::int, 1)
    || substr(v_digits, 1 + (c >> 35 & 31)::int, 1) || substr(v_digits, 1 + (c >> 30 & 31)::int, 1)
    || substr(v_digits, 1 + (c >> 25 & 31)::int, 1) || substr(v_digits, 1 + (c >> 20 & 31)::int, 1)
    || substr(v_digits, 1 + (c >> 15 & 31)::int, 1) || substr(v_digits, 1 + (c >> 10 & 31)::int, 1)
    || substr(v_digits, 1 + (c >> 5 & 31)::int, 1) || substr(v_digits, 1 + (c & 31)::int, 1), 'SQL_ASCII');
end $$;
