-- True for accounts with a running balance; false for contra accounts; null for a name that is neither. The patterns do
-- without counts such as {8,64}, which take ten times as long.
create or replace function has_running_balance(p_account text) returns boolean language sql immutable parallel safe as $$
  select case
    when length(split_part(split_part(p_account, '_', 2), ':', 1)) not between 8 and 64 then null
    when p_account ~ '^((wallet:wal|agent:ag)_[a-z0-9]+:(available|held)|owner:own_[a-z0-9]+:receivable)$' then true
    when p_account ~ '^(external:(cards|sepa|processor)|suspense|fees|interowner):own_[a-z0-9]+$' then false
  end
$$;

/* Whose account that is by its name: null for a wallet or agent that does not exist. A name of an account has another
   collation than an id; compared by it, an id could not be looked up by its index. */
create or replace function account_owner(p_name text) returns text language sql stable as $$
  select case split_part(p_name, ':', 1)
    when 'owner' then split_part(p_name, ':', 2)
    when 'wallet' then (select w.owner_id from wallets w where w.id = split_part(p_name, ':', 2) collate "default")
    when 'agent' then (select a.owner_id from agents a where a.id = split_part(p_name, ':', 2) collate "default")
  end
$$;

-- An account belongs to the owner of the wallet or agent that it is named after.
create or replace function check_account_owner() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if has_running_balance(new.name) is not true then
    raise exception 'no such kind of account: %', new.name using errcode = 'BL003';
  end if;
  if account_owner(new.name) is distinct from new.owner_id then
    raise exception 'account % does not belong to %', new.name, new.owner_id using errcode = 'BL003';
  end if;
  return new;
end $$;
