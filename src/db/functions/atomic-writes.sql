/* What functions for atomic writes share. Such a function takes a list of items and treats them as if one came after
   the other: [{key: null or {ownerId, callerKind, agentId, key, method, path, paths, requestHash, seed, seedMs},
   events: [...], audits: [...], …}]. It answers each with (outcome, result): `done`, `replayed`, `conflict`, `running`,
   `again` (to be asked once more, after this batch) or a refusal that the function defines, which leaves no row. In this
   order it locks the keys (lock_keys), looks them up (known_answers), locks rows and then accounts in name order, writes,
   and keeps the answers (keep_answers). Its lock_timeout bounds how long one owner's lock keeps the others of a batch
   waiting (group-commit.ts). It may be repeated with the same items, and then finds what it wrote. */

/* Locks the keys of these items until the end of the transaction, in one order for all batches. A statement of a process
   that died may still be at work with a key: a repeat that did not wait for it would find the money gone and be refused,
   though the first call succeeds. */
create or replace function lock_keys(p_items jsonb) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(k.id) from (
    select distinct key_lock(key) as id from (select value -> 'key' as key from jsonb_array_elements(p_items)) i
    where jsonb_typeof(key) = 'object' order by 1
  ) k;
end $$;

-- What is locked for a key; no part of it has a space.
create or replace function key_lock(p_key jsonb) returns bigint language sql immutable parallel safe as $$
  select hashtextextended(concat_ws(' ', 'idempotency', p_key ->> 'ownerId', p_key ->> 'callerKind', p_key ->> 'agentId',
    p_key ->> 'key'), 0)
$$;

/* Of the items whose key is known: what they are answered. `done` is the item's own answer, found by a repeat. */
create or replace function known_answers(p_items jsonb) returns table (ordinal int, outcome text, result jsonb)
  language sql stable as $$
  select i.n::int,
    case when k.method <> i.key ->> 'method' or not (i.key -> 'paths') ? k.path or k.request_hash <> i.key ->> 'requestHash'
        then 'conflict'
      when k.status is null then 'running'
      when k.seed = i.key ->> 'seed' then 'done'
      else 'replayed' end,
    case when k.method = i.key ->> 'method' and (i.key -> 'paths') ? k.path and k.request_hash = i.key ->> 'requestHash'
      then k.body::jsonb end
  from (
    select n, value -> 'key' as key from jsonb_array_elements(p_items) with ordinality d (value, n)
    where jsonb_typeof(value -> 'key') = 'object'
  ) i
  cross join lateral (
    select * from idempotency k where k.owner_id = i.key ->> 'ownerId' and k.caller_kind = i.key ->> 'callerKind'
      and k.agent_id = i.key ->> 'agentId' and k.key = i.key ->> 'key' offset 0
  ) k
  where k.reserved_at > now() - interval '24 hours'
$$;

/* Keeps the results of these items under their keys. A key that another process is using at the same time repeats the
   whole batch, which then finds it. */
create or replace function keep_answers(p_items jsonb, p_ordinals int[], p_results jsonb[]) returns void
  language plpgsql as $$
declare
  v_kept int;
begin
  insert into idempotency as k (owner_id, caller_kind, agent_id, key, method, path, request_hash, seed, seed_ms,
      lease_token, status, body)
    select i.key ->> 'ownerId', i.key ->> 'callerKind', i.key ->> 'agentId', i.key ->> 'key', i.key ->> 'method',
      i.key ->> 'path', i.key ->> 'requestHash', i.key ->> 'seed', (i.key ->> 'seedMs')::bigint, '', 200, i.result::text
    from (
      select p_items -> (n - 1) -> 'key' as key, result from unnest(p_ordinals, p_results) as d (n, result)
    ) i where jsonb_typeof(i.key) = 'object'
    order by 1, 2, 3, 4
    on conflict (owner_id, caller_kind, agent_id, key) do update set
      method = excluded.method, path = excluded.path, request_hash = excluded.request_hash, seed = excluded.seed,
      seed_ms = excluded.seed_ms, lease_token = '', lease_until = null, status = 200, body = excluded.body,
      body_is_sealed = false, reveal_until = null, reserved_at = now()
      where k.reserved_at <= now() - interval '24 hours';
  get diagnostics v_kept = row_count;
  if v_kept < (select count(*) from unnest(p_ordinals) n where jsonb_typeof(p_items -> (n - 1) -> 'key') = 'object') then
    raise exception 'a key of this batch is in use elsewhere' using errcode = '40001';
  end if;
end $$;

/* Writes the events and audit rows of these items. An event with `balance_of` gets that account's balance right after
   its item, from the item's element of p_balances, as balanceEuros. */
create or replace function record_items(p_items jsonb, p_ordinals int[], p_balances jsonb[]) returns void language plpgsql
as $$
begin
  with written as (
    insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
      select e.id, e.owner_id, e.agent_id, e.subject_id, e.name,
        case when e.balance_of is null then e.data
          else e.data || jsonb_build_object('balanceEuros', trim_scale((d.balances ->> e.balance_of)::numeric / 100)) end,
        e.request_id, e.run_id, e.created_at
      from unnest(p_ordinals, p_balances) with ordinality d (n, balances, nth)
      cross join lateral rows from (jsonb_to_recordset(p_items -> (d.n - 1) -> 'events') as (id text, owner_id text,
        agent_id text, subject_id text, name text, data jsonb, request_id text, run_id text, created_at timestamptz,
        balance_of text)) with ordinality e (id, owner_id, agent_id, subject_id, name, data, request_id, run_id,
        created_at, balance_of, line)
      order by d.nth, e.line
  )
  insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome,
      created_at)
    select a.* from unnest(p_ordinals) with ordinality d (n, nth)
    cross join lateral jsonb_to_recordset(p_items -> (d.n - 1) -> 'audits') as a (id text, owner_id text, agent_id text,
      actor text, action text, subject_id text, details jsonb, request_id text, source_address text, outcome text,
      created_at timestamptz)
    order by d.nth;
end $$;
