/**
 * Makes, publishes and opens signing keys. Private halves are sealed in the vault and leave this area only as keys that
 * sign. A key is never deleted, because what it signed stays verifiable; signing-key-end.service.ts ends it.
 * @module
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, subtle } from 'node:crypto';
import { calculateJwkThumbprint, importJWK } from 'jose';
import * as z from 'zod';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordAudit } from '../../../events/record.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import {
  agentJwks,
  type PublicJwk,
  type SealedKey,
  sealedKeyOfAgent,
  sealedServiceKeys,
} from './signing-key.queries.ts';
import { activeFrom, type KeyPurpose, keyThatSigns } from './signing-key.rules.ts';

/** A key to sign with by JOSE, `alg` EdDSA. */
export type SigningKey = { readonly kid: string; readonly key: Awaited<ReturnType<typeof importJWK>> };

/** The key that signs receipts and tokens now. Without any, the first one is made. */
export async function serviceSigningKey(tx: Tx, vault: Vault, now: Date = new Date()): Promise<SigningKey> {
  const known = keyThatSigns(await sealedServiceKeys(tx), now);
  return opened(known ?? (await firstServiceKey(tx, vault, now)), vault);
}

/** Of several processes at once, one makes the first key. */
export async function ensureServiceKey(tx: Tx, vault: Vault, now: Date = new Date()): Promise<void> {
  if (keyThatSigns(await sealedServiceKeys(tx), now) === undefined) await firstServiceKey(tx, vault, now);
}

async function firstServiceKey(tx: Tx, vault: Vault, now: Date): Promise<SealedKey> {
  await lockServiceKeys(tx);
  const known = keyThatSigns(await sealedServiceKeys(tx), now);
  if (known !== undefined) return known;
  return insertKey(tx, await newKey(vault), { purpose: 'service', activeFrom: activeFrom(now, true) });
}

export type Rotated = { readonly kid: string; readonly activeFrom: Date };

/** Publishes a new key of receipts and tokens, which signs once everyone can know it. Former keys stay published. */
export async function rotateServiceKey(tx: Tx, vault: Vault, cause: Cause, now: Date = new Date()): Promise<Rotated> {
  await lockServiceKeys(tx);
  const isFirst = (await sealedServiceKeys(tx)).length === 0;
  const from = activeFrom(now, isFirst);
  const { kid } = await insertKey(tx, await newKey(vault), { purpose: 'service', activeFrom: from });
  const details = { activeFrom: from.toISOString() };
  await recordAudit(tx, cause, { action: 'signing_keys.rotated', subjectId: kid, details });
  return { kid, activeFrom: from };
}

export const lockServiceKeys = (tx: Tx) => runSql(tx, 'select lock_limit($1, $2, $2)', ['signing_keys', 'service']);

/** Publishes the public half of the checkpoints' key, before the key signs a checkpoint. */
export async function publishCheckpointKey(tx: Tx, key: KeyObject, now: Date = new Date()): Promise<void> {
  const { kid, x } = await publicPartsOf(key.type === 'public' ? key : createPublicKey(key));
  await runSql(
    tx,
    `insert into signing_keys (kid, purpose, public_x, active_from) values ($1, 'checkpoint', $2, $3)
     on conflict (kid) do nothing`,
    [kid, x, now],
  );
}

/** An agent that signs. The caller has checked that it is open. */
export type SigningAgent = { readonly ownerId: string; readonly agentId: string };

/** The key with which an agent signs; undefined until it is made. */
export async function openAgentKey(tx: Tx, vault: Vault, agentId: string): Promise<SigningKey | undefined> {
  const known = await sealedKeyOfAgent(tx, agentId);
  return known === null ? undefined : opened(known, vault);
}

/** The key with which an agent signs; made at its first use, and at the first one after a revocation. */
export async function agentSigningKey(
  tx: Tx,
  vault: Vault,
  agent: SigningAgent,
  cause: Cause,
  now: Date = new Date(),
): Promise<SigningKey> {
  const { agentId } = agent;
  const known = await openAgentKey(tx, vault, agentId);
  if (known !== undefined) return known;
  const { kid } = await insertAgentKey(tx, vault, agentId, now);
  const made = await sealedKeyOfAgent(tx, agentId); // Another transaction may have been faster.
  if (made === null) throw new Error(`agent ${agentId} has no signing key after one was made`);
  if (made.kid === kid)
    await recordAudit(tx, cause, { action: 'agent_key.created', ...agent, subjectId: agentId, details: { kid } });
  return opened(made, vault);
}

/** Where the agent has a key already, that one stays. */
export const insertAgentKey = async (tx: Tx, vault: Vault, agentId: string, now: Date): Promise<SealedKey> =>
  insertKey(tx, await newKey(vault), { purpose: 'agent', agentId, activeFrom: now });

/** Whether there is such an agent and it is not closed; the table belongs to another domain. */
export type IsOpenAgent = (tx: Tx, agentId: string) => Promise<boolean>;

/** A bare Ed25519 signature, for formats other than JOSE. */
export async function signBytes({ kid, key }: SigningKey, bytes: Uint8Array): Promise<Uint8Array> {
  if (key instanceof Uint8Array) throw new Error(`the signing key ${kid} is no key of Ed25519`);
  return new Uint8Array(await subtle.sign('Ed25519', key, bytes));
}

/** The public keys of an agent; none until it signs. A closed agent is as absent as an unknown one. */
export async function publishedJwksOf(tx: Tx, agentId: string, isOpenAgent: IsOpenAgent): Promise<PublicJwk[]> {
  if (!(await isOpenAgent(tx, agentId))) throw notFound('agent', agentId);
  return agentJwks(tx, agentId);
}

type NewKey = { readonly kid: string; readonly x: string; readonly sealedPrivateKey: string };
type Publication = { readonly purpose: KeyPurpose; readonly agentId?: string; readonly activeFrom: Date };

async function newKey(vault: Vault): Promise<NewKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { kid, x } = await publicPartsOf(publicKey);
  const sealedPrivateKey = await vault.seal(JSON.stringify(privateKey.export({ format: 'jwk' })), placeOf(kid));
  return { kid, x, sealedPrivateKey };
}

async function insertKey(
  tx: Tx,
  { kid, x, sealedPrivateKey }: NewKey,
  { purpose, agentId, activeFrom: from }: Publication,
): Promise<SealedKey> {
  await runSql(
    tx,
    `insert into signing_keys (kid, purpose, agent_id, public_x, sealed_private_key, active_from)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [kid, purpose, agentId ?? null, x, sealedPrivateKey, from],
  );
  return { kid, sealedPrivateKey };
}

async function opened({ kid, sealedPrivateKey }: SealedKey, vault: Vault): Promise<SigningKey> {
  if (sealedPrivateKey === null) throw new Error(`the signing key ${kid} has no private half here`);
  const jwk = privateJwk.parse(JSON.parse(await vault.open(sealedPrivateKey, placeOf(kid))));
  return { kid, key: await importJWK(jwk, 'EdDSA') };
}

const privateJwk = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() });

async function publicPartsOf(publicKey: KeyObject): Promise<{ readonly kid: string; readonly x: string }> {
  const { x } = publicKey.export({ format: 'jwk' });
  if (publicKey.asymmetricKeyType !== 'ed25519' || x === undefined) throw new Error('a signing key must be Ed25519');
  return { kid: await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x }), x };
}

const placeOf = (kid: string): string => `signing-key/${kid}`;
