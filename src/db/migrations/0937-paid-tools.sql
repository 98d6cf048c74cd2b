-- A payment for a tool of the MCP server at `url`: the JSON of its name and arguments.
alter table mpp_payments add column tool_call text check (length(tool_call) <= 20000);
