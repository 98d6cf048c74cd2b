-- Replaced by load_authorizations, which reads the facts of many.
drop function if exists load_authorization_facts(text, text, text, text, timestamptz);
