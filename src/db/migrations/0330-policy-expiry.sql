-- When the expiry of an agent's policy was acted upon; null until then, and again after each change of the policy.
alter table policies add column expired_at timestamptz;

-- Agents that have an expiry already get the run that waits for it.
insert into processes (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at)
  select 'agent-policy/' || agent_id, 'agentPolicy', agent_id, owner_id, agent_id, 'active',
    updated_at + expires_after_minutes * interval '1 minute', updated_at
  from policies where agent_id is not null and removed_at is null and expires_after_minutes is not null;
