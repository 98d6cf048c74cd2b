-- Format 2 of the seals: each journal and each record is a leaf of its owner's Merkle tree (RFC 9162), whose root is in
-- the signed checkpoint. Seals of format 1 stay as they are; their leaf follows from their hash.

alter table journal_seals
  add column format smallint not null default 1 check (format > 0),
  add column leaf text check (length(leaf) = 64),
  -- Business time, later with each batch of the sealer, so that a trial balance as of an instant never changes.
  add column sealed_at timestamptz,
  add constraint journal_seals_format_2 check (format = 1 or num_nulls(leaf, sealed_at) = 0);
alter table record_seals
  add column leaf text check (length(leaf) = 64),
  add constraint record_seals_format_2 check (format = 1 or leaf is not null);

-- The roots of the tree's full subtrees. Null: sealed last before there was a tree, which is then built once.
alter table ledger_heads add column frontier text;
alter table record_heads add column frontier text;

alter table ledger_checkpoints
  add column tree_root text check (length(tree_root) = 64),
  add column frontier text;
alter table record_checkpoints
  add column tree_root text check (length(tree_root) = 64),
  add column frontier text;

-- Every journal that is sealed from now on is sealed at a later instant than this one.
create table ledger_sealed_through (
  id smallint primary key default 1 check (id = 1),
  at timestamptz not null
) with (fillfactor = 50);
insert into ledger_sealed_through (at) values ('1970-01-01T00:00:00Z');
