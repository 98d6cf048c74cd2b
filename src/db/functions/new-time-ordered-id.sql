-- Two characters of an id for the last ten bits of a number: each line has those of the same first character. A constant
-- of an expression, because a variable would be copied at each use.
create or replace function two_id_characters(bits bigint) returns bytea language sql immutable as $$
  select substr(
    '000102030405060708090a0b0c0d0e0f0g0h0j0k0m0n0p0q0r0s0t0v0w0x0y0z'
    '101112131415161718191a1b1c1d1e1f1g1h1j1k1m1n1p1q1r1s1t1v1w1x1y1z'
    '202122232425262728292a2b2c2d2e2f2g2h2j2k2m2n2p2q2r2s2t2v2w2x2y2z'
    '303132333435363738393a3b3c3d3e3f3g3h3j3k3m3n3p3q3r3s3t3v3w3x3y3z'
    '404142434445464748494a4b4c4d4e4f4g4h4j4k4m4n4p4q4r4s4t4v4w4x4y4z'
    '505152535455565758595a5b5c5d5e5f5g5h5j5k5m5n5p5q5r5s5t5v5w5x5y5z'
    '606162636465666768696a6b6c6d6e6f6g6h6j6k6m6n6p6q6r6s6t6v6w6x6y6z'
    '707172737475767778797a7b7c7d7e7f7g7h7j7k7m7n7p7q7r7s7t7v7w7x7y7z'
    '808182838485868788898a8b8c8d8e8f8g8h8j8k8m8n8p8q8r8s8t8v8w8x8y8z'
    '909192939495969798999a9b9c9d9e9f9g9h9j9k9m9n9p9q9r9s9t9v9w9x9y9z'
    'a0a1a2a3a4a5a6a7a8a9aaabacadaeafagahajakamanapaqarasatavawaxayaz'
    'b0b1b2b3b4b5b6b7b8b9babbbcbdbebfbgbhbjbkbmbnbpbqbrbsbtbvbwbxbybz'
    'c0c1c2c3c4c5c6c7c8c9cacbcccdcecfcgchcjckcmcncpcqcrcsctcvcwcxcycz'
    'd0d1d2d3d4d5d6d7d8d9dadbdcdddedfdgdhdjdkdmdndpdqdrdsdtdvdwdxdydz'
    'e0e1e2e3e4e5e6e7e8e9eaebecedeeefegehejekemenepeqeresetevewexeyez'
    'f0f1f2f3f4f5f6f7f8f9fafbfcfdfefffgfhfjfkfmfnfpfqfrfsftfvfwfxfyfz'
    'g0g1g2g3g4g5g6g7g8g9gagbgcgdgegfggghgjgkgmgngpgqgrgsgtgvgwgxgygz'
    'h0h1h2h3h4h5h6h7h8h9hahbhchdhehfhghhhjhkhmhnhphqhrhshthvhwhxhyhz'
    'j0j1j2j3j4j5j6j7j8j9jajbjcjdjejfjgjhjjjkjmjnjpjqjrjsjtjvjwjxjyjz'
    'k0k1k2k3k4k5k6k7k8k9kakbkckdkekfkgkhkjkkkmknkpkqkrksktkvkwkxkykz'
    'm0m1m2m3m4m5m6m7m8m9mambmcmdmemfmgmhmjmkmmmnmpmqmrmsmtmvmwmxmymz'
    'n0n1n2n3n4n5n6n7n8n9nanbncndnenfngnhnjnknmnnnpnqnrnsntnvnwnxnynz'
    'p0p1p2p3p4p5p6p7p8p9papbpcpdpepfpgphpjpkpmpnpppqprpsptpvpwpxpypz'
    'q0q1q2q3q4q5q6q7q8q9qaqbqcqdqeqfqgqhqjqkqmqnqpqqqrqsqtqvqwqxqyqz'
    'r0r1r2r3r4r5r6r7r8r9rarbrcrdrerfrgrhrjrkrmrnrprqrrrsrtrvrwrxryrz'
    's0s1s2s3s4s5s6s7s8s9sasbscsdsesfsgshsjsksmsnspsqsrssstsvswsxsysz'
    't0t1t2t3t4t5t6t7t8t9tatbtctdtetftgthtjtktmtntptqtrtstttvtwtxtytz'
    'v0v1v2v3v4v5v6v7v8v9vavbvcvdvevfvgvhvjvkvmvnvpvqvrvsvtvvvwvxvyvz'
    'w0w1w2w3w4w5w6w7w8w9wawbwcwdwewfwgwhwjwkwmwnwpwqwrwswtwvwwwxwywz'
    'x0x1x2x3x4x5x6x7x8x9xaxbxcxdxexfxgxhxjxkxmxnxpxqxrxsxtxvxwxxxyxz'
    'y0y1y2y3y4y5y6y7y8y9yaybycydyeyfygyhyjykymynypyqyrysytyvywyxyyyz'
    'z0z1z2z3z4z5z6z7z8z9zazbzczdzezfzgzhzjzkzmznzpzqzrzsztzvzwzxzyzz'::bytea,
    1 + 2 * (bits & 1023)::int, 2)
$$;

-- The 16 bytes of a UUIDv7 as 26 lower-case Crockford characters, five bits each, after two bits of 0. The first byte is
-- two characters; each of the other three parts has five bytes, which are eight. PostgreSQL writes this and the function
-- above into the statement that calls it, which a settings clause or a stricter volatility would prevent: a delivery is
-- made for each subscription to each event, and a call takes twice as long.
create or replace function id_characters(uuid bytea) returns text language sql stable as $$
  select convert_from(two_id_characters(get_byte(uuid, 0))
    || two_id_characters(substr(uuid, 2, 5)::bigint >> 30) || two_id_characters(substr(uuid, 2, 5)::bigint >> 20)
    || two_id_characters(substr(uuid, 2, 5)::bigint >> 10) || two_id_characters(substr(uuid, 2, 5)::bigint)
    || two_id_characters(substr(uuid, 7, 5)::bigint >> 30) || two_id_characters(substr(uuid, 7, 5)::bigint >> 20)
    || two_id_characters(substr(uuid, 7, 5)::bigint >> 10) || two_id_characters(substr(uuid, 7, 5)::bigint)
    || two_id_characters(substr(uuid, 12, 5)::bigint >> 30) || two_id_characters(substr(uuid, 12, 5)::bigint >> 20)
    || two_id_characters(substr(uuid, 12, 5)::bigint >> 10) || two_id_characters(substr(uuid, 12, 5)::bigint), 'SQL_ASCII')
$$;

-- An id as kernel/ids.ts makes them.
create or replace function new_time_ordered_id(prefix text) returns text language plpgsql volatile
  set search_path = public, pg_temp as $$
declare
  v_uuid constant bytea := uuid_send(uuidv7());
begin
  return prefix || '_' || id_characters(v_uuid);
end $$;
