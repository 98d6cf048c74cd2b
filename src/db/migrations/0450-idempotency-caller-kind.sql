-- Keys of an owner's API keys and of the dashboard for that owner were one scope. Rows from before say only whether an
-- agent called: '' stands for the other two kinds, and the first repeat of such a request makes the row its own.
alter table idempotency add column caller_kind text not null default '';
update idempotency set caller_kind = 'agent' where agent_id <> '';
alter table idempotency alter column caller_kind drop default;
alter table idempotency drop constraint idempotency_pkey, add primary key (owner_id, caller_kind, agent_id, key);
