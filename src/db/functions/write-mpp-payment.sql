/* One step of a machine payment, with all that is written beside the row: transitions, the merchant's answer, the
   workflow run, events and audit. Null, and nothing written, where the step's cause has moved the row before. BP001, and
   nothing written, where the row is not the version that the step was decided on, or where the release of the intent
   asks for more than the intent's row.
   `isAnswered`: there is an answer for the callers of the payment, who are notified.
   `locks`: first the rows of a step that may end the payment, in the common order; without it the caller holds them, or
   the row alone is written. */
create or replace function write_mpp_payment(p jsonb) returns int language plpgsql as $$
declare
  v_id text := p ->> 'id';
  v_run jsonb := p -> 'run';
  v_body jsonb := p -> 'body';
  v_version int;
begin
  if (p ->> 'locks')::boolean then perform lock_mpp_payment(v_id); end if;
  if jsonb_array_length(p -> 'transitions') > 0 then
    insert into transitions
      select 'mpp_payment', v_id, cause, "from", "to", at
      from jsonb_to_recordset(p -> 'transitions') as t (cause text, "from" text, "to" text, at timestamptz)
      on conflict do nothing;
    if not found then return null; end if;
  end if;
  update mpp_payments m
    set status = n.status, payee_url = n.payee_url, sealed_challenge = n.sealed_challenge, amount_cents = n.amount_cents,
      currency = n.currency, send_cause = n.send_cause, send_until = n.send_until, sent_at = n.sent_at,
      presented_at = n.presented_at, charge_outcome = n.charge_outcome, charge_source = n.charge_source,
      transaction_id = n.transaction_id, merchant_status = n.merchant_status, sealed_receipt = n.sealed_receipt,
      outcome_code = n.outcome_code, outcome_reason = n.outcome_reason, updated_at = n.updated_at,
      sealed_tool_arguments = case
        when n.status in ('requested', 'challenged', 'allowed', 'minted', 'presenting') then n.sealed_tool_arguments end
    from mpp_payments o, jsonb_populate_record(o, p -> 'set') n
    where o.id = v_id and m.id = o.id and m.version = (p ->> 'version')::int and o.version = m.version
    returning m.version into v_version;
  if not found then perform stale('machine payment'); end if;
  if v_body is not null then
    insert into mpp_bodies (payment_id, sealed_body, kept_until)
      values (v_id, v_body ->> 'sealedBody', (v_body ->> 'keptUntil')::timestamptz);
  end if;
  case v_run ->> 'kind'
    when 'close' then
      update workflow_runs set is_open = false, wanted_wake = (v_run ->> 'wakes')::boolean, due_at = null
        where id = v_run ->> 'id' and is_open;
    when 'due' then
      update workflow_runs set due_at = (v_run ->> 'dueAt')::timestamptz,
          wanted_wake = wanted_wake or (v_run ->> 'wakes')::boolean
        where id = v_run ->> 'id' and is_open;
    else null;
  end case;
  -- The intent that the payment was kept for and has paid: its deadline counts again, and nothing waits for it.
  if p -> 'releasesPaid' is not null then
    update intents set open_payment_id = null, open_payment_at = null, updated_at = (p ->> 'at')::timestamptz
      where id = p ->> 'releasesPaid' and open_payment_id = v_id and matched_transaction_id is not null;
    if not found then perform stale('intent'); end if;
  end if;
  if jsonb_array_length(p -> 'events') > 0 then
    perform record_changes(p -> 'events', p -> 'audits');
  end if;
  if (p ->> 'isAnswered')::boolean then perform pg_notify('bursar_mpp_payments', v_id); end if;
  return v_version;
end $$;

/* A new machine payment with its workflow run and its event. The intent, which the caller has locked, is kept for it: its
   deadline does not count meanwhile. */
create or replace function open_mpp_payment(p jsonb) returns void language plpgsql as $$
declare
  r mpp_payments := jsonb_populate_record(null::mpp_payments, p -> 'row');
begin
  insert into mpp_payments select r.*;
  update intents set open_payment_id = r.id, open_payment_at = r.created_at, updated_at = r.created_at
    where id = r.intent_id;
  update workflow_runs set due_at = null where id = p ->> 'intentRunId' and is_open;
  insert into transitions values ('mpp_payment', r.id, p ->> 'cause', null, r.status, r.created_at);
  insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at, amount_cents)
    values (p -> 'run' ->> 'id', p -> 'run' ->> 'workflow', r.id, r.owner_id, r.agent_id, p -> 'run' ->> 'stage',
      r.created_at, r.created_at, (p -> 'run' ->> 'amountCents')::bigint)
    on conflict (id) do nothing;
  perform record_changes(p -> 'events', p -> 'audits');
end $$;
