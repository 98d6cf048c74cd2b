-- With what the requests to merchants are signed that Bursar sends for an agent; its owner decides.
alter table agents
  add column request_signatures text not null default 'none'
    check (request_signatures in ('none', 'web_bot_auth', 'trusted_agent', 'both'));
