/** Verifies a receipt of Bursar with its published keys, and prints what it says: `verify-receipt.mjs <receipt>`. @module */
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { BURSAR_URL } = process.env;
const discovered = await fetch(`${BURSAR_URL}/.well-known/agent-payments.json`);
const { issuer } = await discovered.json();
const keys = createRemoteJWKSet(new URL(`${BURSAR_URL}/.well-known/jwks.json`));
const expected = { issuer, typ: 'bursar-receipt+jwt', algorithms: ['EdDSA'] };
const { payload } = await jwtVerify(process.argv[2], keys, expected);
process.stdout.write(`${JSON.stringify(payload)}\n`);
