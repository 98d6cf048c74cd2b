-- What a card allows and blocks beside the policy of its agent. On the card, because the decision reads its row anyway.
alter table cards
  add column controls jsonb check (jsonb_typeof(controls) = 'object'),
  add column controls_updated_at timestamptz;
