-- Replaced by a function of the columns.
drop function if exists funding_result(fundings);
