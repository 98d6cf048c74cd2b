-- Which text of each file of `functions/` this database has.
create table sql_functions (
  name text primary key,
  sha256 text not null
);
