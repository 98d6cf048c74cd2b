/**
 * Tells a decision that the API settled from one that somebody typed into Temporal: the API's carries a seal over its
 * words and the moment, which only a holder of the vault's key can make. Whoever reaches Temporal alone decides as a
 * signal does, and sends nothing again that a history holds.
 * @module
 */
import { createHash } from 'node:crypto';
import { minute } from '../../../kernel/instant.ts';
import { type Vault, VaultError } from '../../../vault/vault.ts';
import type { IntentDecision } from './intent.messages.ts';

export type Proven = IntentDecision & { readonly proof: string };

/** `lapsed`: the API made it, too long ago. */
export type ProofVerdict = 'holds' | 'lapsed' | 'foreign';

/** In real time, as every seal: a worker that is slower than that obeys nobody's old word. */
const proofMs = 10 * minute;

export async function proven(
  vault: Vault,
  intentId: string,
  decision: IntentDecision,
  sealedAt = new Date(),
): Promise<Proven> {
  const words = `${sealedAt.toISOString()} ${wordsOf(decision)}`;
  return { ...decision, proof: await vault.seal(words, contextOf(intentId)) };
}

export async function judgeProof(
  vault: Vault,
  intentId: string,
  { proof, ...decision }: IntentDecision,
  realNow = new Date(),
): Promise<ProofVerdict> {
  if (typeof proof !== 'string') return 'foreign';
  try {
    const [sealedAt, words] = (await vault.open(proof, contextOf(intentId))).split(' ');
    if (words !== wordsOf(decision)) return 'foreign';
    return realNow.getTime() - Date.parse(sealedAt ?? '') <= proofMs ? 'holds' : 'lapsed';
  } catch (error) {
    if (error instanceof VaultError) return 'foreign';
    throw error;
  }
}

/** A repeat joins what was asked in the same five minutes, whose seal still holds; later it asks with a seal of its own. */
export const askedAs = (causeId: string, sealedAt: Date): string =>
  `${causeId}/${Math.floor(sealedAt.getTime() / (proofMs / 2))}`;

const contextOf = (intentId: string): string => `decision/${intentId}`;

/** Of one length, whatever is in it: a payload's strings are short. */
const wordsOf = ({ decision, actor, by, causeId, requestId, runId }: IntentDecision): string =>
  createHash('sha256')
    .update(JSON.stringify([decision, actor, by, causeId, requestId, ...(runId === undefined ? [] : [runId])]))
    .digest('base64url');
