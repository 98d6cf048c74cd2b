-- When a rightly signed message of a network was refused the last time, because its time and this API's clock are apart.
create table network_clocks (
  adapter text primary key,
  -- By the database's clock.
  refused_at timestamptz not null,
  -- The API's clock minus the message's time.
  apart_ms bigint not null
);
