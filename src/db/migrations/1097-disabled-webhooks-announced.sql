-- The owner's devices are told when a webhook subscription is disabled: the event of it cannot reach its owner by the
-- subscription itself.
alter table push_messages
  drop constraint push_messages_kind_check,
  add constraint push_messages_kind_check check (kind in ('approval', 'risk', 'webhook', 'test')),
  -- The host and the reason, in words.
  add column detail text,
  add constraint push_messages_detail check ((detail is not null) = (kind = 'webhook'));
