/**
 * `bursar ledger prove` prints a proof of one sealed record; `bursar ledger check` checks such a proof without a
 * database, with a public key alone. Exit code 0: it holds, 1: it does not hold.
 * @module
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Database } from '../db/database.ts';
import { keyIdOf } from '../domains/treasury/ledger/checkpoint.rules.ts';
import { faultOfProof, nounOf, type Proof } from '../domains/treasury/ledger/proof.rules.ts';
import { proofIn } from '../domains/treasury/ledger/proof.wire.ts';
import { proveRecord } from '../usecases/treasury/prove-record.ts';
import { recordChains } from './record-chains.ts';

type Say = (text: string) => unknown;
type Keys = ReadonlyMap<string, KeyObject>;

/** A proof that does not hold is not printed: it says that the record or its chain was changed. */
export async function printProof(database: Database, id: string, keys: Keys, say: Say): Promise<number> {
  const proof = await proveRecord({ database, chains: recordChains })(id);
  const fault = faultUnder(keys, proof);
  say(fault === undefined ? `${JSON.stringify(proof, undefined, 2)}\n` : `the proof of ${id} ${fault}\n`);
  return fault === undefined ? 0 : 1;
}

/** `keyFile`: the only public key that may have signed; without one `keys` may. */
export async function checkProof(
  file: string,
  keyFile: string | undefined,
  keys: () => Promise<Keys>,
  say: Say,
): Promise<number> {
  const found = proofIn(await readFile(file, 'utf8'));
  const fault = 'fault' in found ? found.fault : await faultOf(found.proof, keyFile, keys);
  say(fault === undefined && 'proof' in found ? inWords(found.proof) : `the proof does not hold: it ${fault}\n`);
  return fault === undefined ? 0 : 1;
}

async function faultOf(
  proof: Proof,
  keyFile: string | undefined,
  keys: () => Promise<Keys>,
): Promise<string | undefined> {
  if (keyFile === undefined) return faultUnder(await keys(), proof);
  return faultOfProof(createPublicKey(await readFile(keyFile, 'utf8')), proof);
}

function faultUnder(keys: Keys, proof: Proof): string | undefined {
  const key = keys.get(proof.checkpoint.keyId);
  if (key === undefined || keyIdOf(key) !== proof.checkpoint.keyId)
    return `names the unknown key ${proof.checkpoint.keyId}`;
  return faultOfProof(key, proof);
}

function inWords({ chain, id, ownerId, sequence, text, checkpoint: { size, at, keyId } }: Proof): string {
  const noun = nounOf[chain];
  return (
    `the proof holds: ${noun} ${id} of ${ownerId} is number ${sequence} of the ${size} in its chain at ${at}, ` +
    `signed by the key ${keyId}\n${text}\n`
  );
}
