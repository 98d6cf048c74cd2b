/** Registers a merchant with the public half of merchant-key.json, proves that it holds the key, and prints the answer. @module */
import { readFileSync } from 'node:fs';
import { compactDecrypt, importJWK } from 'jose';

const { BURSAR_URL, INVITE_CODE, KEY } = process.env;
const privateJwk = JSON.parse(readFileSync('merchant-key.json'));
const { kty, n, e, alg, use, kid } = privateJwk;
const algorithms = { keyManagementAlgorithms: ['RSA-OAEP-256'], contentEncryptionAlgorithms: ['A256GCM'] };

async function post(path, body) {
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${BURSAR_URL}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

const encryptionJwk = { kty, n, e, alg, use, kid };
const merchant = await post('/v1/merchants', { inviteCode: INVITE_CODE, name: 'Acme Reports', encryptionJwk });
// The challenge is encrypted like a credential: who reads it can read credentials.
const { plaintext } = await compactDecrypt(merchant.key_challenge, await importJWK(privateJwk, alg), algorithms);
const proof = new TextDecoder().decode(plaintext);
await post(`/v1/merchants/${merchant.id}/encryption-keys/activate`, { proof });
process.stdout.write(`${JSON.stringify(merchant)}\n`);
