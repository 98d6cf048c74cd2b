/* A credential that was reserved a moment ago has been minted, for the machine payment that it belongs to: both rows,
   their transitions, event and audit, in one statement. BP001, and nothing written, where what the reservation was
   decided on has changed since: the intent, its agent or card, the credential or the payment. The caller then locks the
   rows and decides again. The locks come in the common order. */
create or replace function mint_mpp_credential(p jsonb) returns table (credential_version int, payment_version int)
language plpgsql as $$
declare
  v_set jsonb := p -> 'set';
begin
  perform lock_spending(p ->> 'agentId');
  perform 1 from agents a where a.id = p ->> 'agentId' and a.status = 'active';
  if not found then perform stale('agent'); end if;
  perform 1 from cards c where c.id = p ->> 'cardId' and c.agent_id = p ->> 'agentId' and c.status = 'active';
  if not found then perform stale('card'); end if;
  perform 1 from intents i where i.id = p ->> 'intentId' and i.version = (p ->> 'intentVersion')::int for no key update;
  if not found then perform stale('intent'); end if;
  update mpp_credentials c
    set status = n.status, token_hash = n.token_hash, encryption_jwk = n.encryption_jwk, merchant_id = n.merchant_id,
      challenge = null, minted_at = n.minted_at, updated_at = n.updated_at
    from jsonb_populate_record(null::mpp_credentials, v_set) n
    where c.id = p ->> 'id' and c.version = (p ->> 'version')::int and c.status = 'requested'
      and c.expires_at > clock_timestamp()
    returning c.version into credential_version;
  if not found then perform stale('credential'); end if;
  insert into transitions values ('mpp_credential', p ->> 'id', p ->> 'cause', 'requested', 'minted',
    (v_set ->> 'minted_at')::timestamptz);
  perform record_changes(p -> 'events', p -> 'audits');
  payment_version := write_mpp_payment(p -> 'payment');
  if payment_version is null then perform stale('machine payment'); end if;
  return next;
end $$;
