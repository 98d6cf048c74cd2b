-- A payment for a tool of the MCP server at `url`. Its arguments are sealed, because they may hold what a person wrote; they
-- are removed when the credential was sent or the payment has ended.
alter table mpp_payments
  add column tool_name text check (length(tool_name) <= 128),
  add column sealed_tool_arguments text check (length(sealed_tool_arguments) <= 100000),
  add constraint mpp_payments_tool check (sealed_tool_arguments is null or (tool_name is not null
    and status in ('requested', 'challenged', 'allowed', 'minted', 'presenting')));
