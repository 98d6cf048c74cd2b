/** Business time in SQL, for statements that are not given it: the same as the clock's, by the server's time. @module */
export const businessNow = `(select date_trunc('milliseconds', clock_timestamp()) + offset_ms * interval '1 ms' from clock)`;
