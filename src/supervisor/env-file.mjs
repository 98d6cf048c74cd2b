#!/usr/bin/env node
/**
 * Makes `.env` for docker-compose.yml: `.env.example` with a random secret wherever one is empty, readable by its owner
 * alone; with `--print` only says it. Replaces nothing that is there. Plain JavaScript for Node 20 without packages,
 * because none may be there yet.
 * @module
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const example = fileURLToPath(new URL('../../.env.example', import.meta.url));
const target = fileURLToPath(new URL('../../.env', import.meta.url));

const generators = {
  POSTGRES_PASSWORD: password,
  BURSAR_DB_PASSWORD: password,
  BURSAR_APP_DB_PASSWORD: password,
  TEMPORAL_DB_PASSWORD: password,
  BURSAR_VAULT_KEY: () => randomBytes(32).toString('base64'),
  BURSAR_DASHBOARD_SECRET: password,
  BURSAR_CLOCK_KEY: password,
  BURSAR_NETWORK_KEY: password,
  BURSAR_SIGNING_KEY: signingKey,
  BURSAR_API_KEY: () => `sk_sandbox_${randomBytes(20).toString('hex')}`,
};

const text = readFileSync(example, 'utf8').replace(/^([A-Z_]+)=$/gm, (line, name) => {
  const make = generators[name];
  return make ? `${line}${make()}` : line;
});
if (process.argv.includes('--print')) process.stdout.write(text);
else write();

function write() {
  try {
    writeFileSync(target, text, { mode: 0o600, flag: 'wx' });
    process.stdout.write(`${target} made: every secret in it is random and in no other place, so keep a copy\n`);
  } catch (error) {
    process.stderr.write(error.code === 'EEXIST' ? `${target} exists already and stays as it is\n` : `${error}\n`);
    process.exitCode = 1;
  }
}

/** Safe inside a URL and inside quotes. */
function password() {
  return randomBytes(24).toString('hex');
}

/** On one line: double quotes turn \n into a line's end. */
function signingKey() {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  return `"${pem.trim().replaceAll('\n', '\\n')}"`;
}
