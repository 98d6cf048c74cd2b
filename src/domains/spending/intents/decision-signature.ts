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

export type SignedDecision = IntentDecision & { readonly signature: string };

/** `expired`: the API made it, too long ago. */
export type SignatureCheck = 'valid' | 'expired' | 'invalid';

/** In real time, as every seal: a worker that is slower than that obeys nobody's old word. */
const signatureValidMs = 10 * minute;

export async function signDecision(
  vault: Vault,
  intentId: string,
  decision: IntentDecision,
  sealedAt = new Date(),
): Promise<SignedDecision> {
  const words = `${sealedAt.toISOString()} ${wordsOf(decision)}`;
  return { ...decision, signature: await vault.seal(words, contextOf(intentId)) };
}

export async function verifyDecision(
  vault: Vault,
  intentId: string,
  { signature, ...decision }: IntentDecision,
  realNow = new Date(),
): Promise<SignatureCheck> {
  if (typeof signature !== 'string') return 'invalid';
  try {
    const [sealedAt, words] = (await vault.open(signature, contextOf(intentId))).split(' ');
    if (words !== wordsOf(decision)) return 'invalid';
    return realNow.getTime() - Date.parse(sealedAt ?? '') <= signatureValidMs ? 'valid' : 'expired';
  } catch (error) {
    if (error instanceof VaultError) return 'invalid';
    throw error;
  }
}

/** A repeat joins what was asked in the same five minutes, whose seal still holds; later it asks with a seal of its own. */
export const askedAs = (causeId: string, sealedAt: Date): string =>
  `${causeId}/${Math.floor(sealedAt.getTime() / (signatureValidMs / 2))}`;

const contextOf = (intentId: string): string => `decision/${intentId}`;

/** Of one length, whatever is in it: a payload's strings are short. */
const wordsOf = ({ decision, actor, by, causeId, requestId, runId }: IntentDecision): string =>
  createHash('sha256')
    .update(JSON.stringify([decision, actor, by, causeId, requestId, ...(runId === undefined ? [] : [runId])]))
    .digest('base64url');
