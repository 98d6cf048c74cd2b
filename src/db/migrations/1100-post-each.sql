-- It has one parameter more; the file in `functions/` creates it again.
drop function if exists post_each(jsonb);
