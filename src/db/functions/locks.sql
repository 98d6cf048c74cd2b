-- Whatever concerns one authorization comes one after the other, also before its transaction exists.
create or replace function lock_authorization(p_adapter text, p_authorization text) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(p_adapter || '/' || p_authorization, 140))
$$;

-- One change of an owner's passkeys at a time.
create or replace function lock_passkeys(p_owner text) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(p_owner, 310))
$$;

-- The agent's place in the queue of whatever changes its spending; returns the revision before.
create or replace function lock_spending(p_agent text) returns bigint language sql volatile as $$
  insert into agent_spending as s (agent_id, revision) values (p_agent, 1)
    on conflict (agent_id) do update set revision = s.revision + 1
    returning s.revision - 1
$$;

/* The intent, locked after its agent's place in the queue; no row where there is no such intent. The intent is read when
   the queue has been waited for. */
create or replace function lock_intent_for_payment(p_intent text) returns setof intents language plpgsql as $$
declare
  v_agent text;
begin
  select i.agent_id into v_agent from intents i where i.id = p_intent;
  if not found then return; end if;
  perform lock_spending(v_agent);
  return query select i.* from intents i where i.id = p_intent for update;
end $$;

-- Of an older release, which locked the intent in a statement of its own.
create or replace function lock_spending_for_intent(p_intent text, out owner_id text, out agent_id text)
  returns setof record language plpgsql as $$
begin
  select i.owner_id, i.agent_id into owner_id, agent_id from intents i where i.id = p_intent;
  if not found then return; end if;
  perform lock_spending(agent_id);
  return next;
end $$;

-- Whose money an agent's cards draw on: its own budget once it has one, else its wallet.
create or replace function funding_source_of(a agents) returns text language sql immutable parallel safe as $$
  select case a.funding when 'budget' then 'agent:' || a.id else 'wallet:' || a.wallet_id end
$$;

/* Requests to a person about these charges, where they were declined: those of the same agent, merchant and amount,
   because a merchant tries several times and a person is asked once. Not by the card, which may have been replaced. A
   payment that was approved has nothing to do with them, whatever it was for. `p_status` is one of the two that are named,
   for the index intents_open. */
create or replace function approval_requests_about(p_transactions text[], p_status text)
  returns table (transaction_id text, intent_id text) language sql stable as $$
  select t.id, i.id from transactions t join intents i on i.agent_id = t.agent_id
    where t.id = any (p_transactions) and t.intent_id is null and t.approved_cents = 0
      and i.status = p_status and i.status in ('pending_approval', 'approved') and i.allows_once_of is null
      and i.expected_amount_cents = t.requested_cents and i.declined_charge -> 'merchant' ->> 'id' = t.merchant_id
    order by i.id
$$;

/* The intent that a declined charge was for, once it is approved or collected nevertheless: the permission to let it pass
   once, else what a person has approved when asked about it, else the one that its decision names. */
create or replace function intent_meant(p_transaction text) returns text language sql stable as $$
  select coalesce(
    (select i.id from intents i where i.allows_once_of = p_transaction and i.status = 'approved'),
    (select r.intent_id from approval_requests_about(array[p_transaction], 'approved') r limit 1),
    (select d.intent_id from decisions d where d.transaction_id = p_transaction and d.intent_id is not null limit 1))
$$;

/* The locks of a booking on payments, in the common order: agents' spending, agents, cards, intents, each by id; the
   transactions and then the ledger accounts are the caller's. Agents stand still, so that it is known which are closed. */
create or replace function lock_payments(p_transactions text[]) returns void language plpgsql
  set enable_seqscan = off as $$
declare
  v_agents text[];
  v_cards text[];
  v_agent text;
begin
  select array_agg(distinct t.agent_id order by t.agent_id), array_agg(distinct t.card_id) into v_agents, v_cards
    from transactions t where t.id = any (p_transactions);
  foreach v_agent in array coalesce(v_agents, '{}') loop
    perform lock_spending(v_agent);
  end loop;
  perform 1 from agents where id = any (v_agents) order by id for share;
  perform 1 from cards where id = any (v_cards) order by id for no key update;
  -- A charge that was declined belongs to no intent, and its clearing completes the one that it was for. Read only now,
  -- because a permission for it may have been given while the agents' spending was awaited.
  perform 1 from intents i where i.id = any (array(
      select coalesce(t.intent_id, intent_meant(t.id)) from transactions t where t.id = any (p_transactions)
      union all
      select r.intent_id from approval_requests_about(p_transactions, 'pending_approval') r))
    order by i.id for no key update;
end $$;

/* The locks of a step that may end a machine payment and release its intent, in the same order: agent, intent,
   credential, payment. */
create or replace function lock_mpp_payment(p_payment text) returns void language plpgsql as $$
declare
  v record;
begin
  select p.agent_id, p.intent_id, p.credential_id into v from mpp_payments p where p.id = p_payment;
  perform 1 from agents where id = v.agent_id for share;
  perform 1 from intents where id = v.intent_id for no key update;
  perform 1 from mpp_credentials where id = v.credential_id for no key update;
  perform 1 from mpp_payments where id = p_payment for no key update;
end $$;

/* The locks of a decision that is made anew because its facts were stale, in the same order. Returns the agent's funding source,
   whose accounts come last. */
create or replace function lock_decision(p_agent text, p_card text, p_at timestamptz) returns text language plpgsql as $$
declare
  v_funding_source text;
begin
  perform lock_spending(p_agent);
  select funding_source_of(a) into v_funding_source from agents a where a.id = p_agent for share;
  perform 1 from cards where id = p_card for share;
  perform 1 from policies where agent_id = p_agent and removed_at is null for share;
  -- By the card alone, as load_authorizations reads them: its intents are its agent's.
  perform 1 from intents where card_id = p_card and status = 'approved' order by id for no key update;
  perform 1 from transactions where card_id = p_card and link_until > p_at order by id for no key update;
  return v_funding_source;
end $$;

/* The locks of letting a declined charge pass once, in the same order: those of a decision, and the intents that wait for
   a person about the same card, because the permission takes the place of a request for the same charge. */
create or replace function lock_allowing(p_agent text, p_card text, p_at timestamptz) returns void language plpgsql as $$
begin
  perform lock_spending(p_agent);
  perform 1 from agents where id = p_agent for share;
  perform 1 from cards where id = p_card for share;
  perform 1 from policies where agent_id = p_agent and removed_at is null for share;
  perform 1 from intents where id = any (array(
      select id from intents where card_id = p_card and status = 'approved'
      union all
      select id from intents where agent_id = p_agent and card_id = p_card and status = 'pending_approval'))
    order by id for no key update;
  perform 1 from transactions where card_id = p_card and link_until > p_at order by id for no key update;
end $$;

/* The locks of a change of bank transfers, in the same order: the spending of their agents, the agents, so that it is
   known whether they are closed, and the transfers. Wallets and ledger accounts come later. */
create or replace function lock_bank_transfers(p_ids text[]) returns void language plpgsql as $$
declare
  v_agents text[];
  v_agent text;
begin
  select array_agg(distinct t.agent_id order by t.agent_id) into v_agents
    from transfers t where t.id = any (p_ids) and t.agent_id is not null;
  foreach v_agent in array coalesce(v_agents, '{}') loop
    perform lock_spending(v_agent);
  end loop;
  perform 1 from agents where id = any (v_agents) order by id for share;
  -- What a transfer pays for is completed, or opened again, with it.
  perform 1 from intents where id = any (array(select t.intent_id from transfers t
    where t.id = any (p_ids) and t.intent_id is not null)) order by id for update;
  perform 1 from transfers where id = any (p_ids) order by id for no key update;
end $$;

-- What a bank says of an account is booked by one transaction at a time, before whose other locks this one comes.
create or replace function lock_bank_accounts(p_ibans text[]) returns void language sql volatile as $$
  select pg_advisory_xact_lock(k.id)
  from (select distinct hashtextextended(iban, 851) as id from unnest(p_ibans) i (iban) order by 1) k
$$;
