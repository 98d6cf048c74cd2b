-- Postings are decided and entered by one pass over the lines; these were the parts of the pass before.
drop function if exists settle_lines(journal_line[]);
drop function if exists refuse_lines(jsonb, bigint[], journal_line[]);
drop function if exists entry_times(jsonb, bigint[], journal_line[]);
drop function if exists post_journals(jsonb);
drop type journal_line;
