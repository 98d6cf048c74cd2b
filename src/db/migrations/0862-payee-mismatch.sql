-- What happens to a transfer of the agent whose payee the payee's bank does not confirm.
alter table policies add column payee_mismatch text not null default 'ask' check (payee_mismatch in ('ask', 'refuse', 'send'));
