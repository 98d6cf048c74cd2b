/**
 * Distinguishes a decision of the API from one that a person typed into Temporal. The API's decision has a signature
 * over its fields and the time, which needs the vault key. A sender with access to Temporal alone decides as a signal
 * does, and cannot repeat a signed decision from a history.
 * @module
 */
import { createHash } from 'node:crypto';
import { minute } from '../../../kernel/instant.ts';
import { type Vault, VaultError } from '../../../vault/vault.ts';
import type { Decision } from './decision.messages.ts';

export type SignedDecision = Decision & { readonly signature: string };

/** `expired`: the API made it, too long ago. */
export type SignatureCheck = 'valid' | 'expired' | 'invalid';

/** In real time. A worker that handles a decision later refuses it. */
const signatureValidMs = 10 * minute;

export async function signDecision(
  vault: Vault,
  subjectId: string,
  decision: Decision,
  sealedAt = new Date(),
): Promise<SignedDecision> {
  const words = `${sealedAt.toISOString()} ${wordsOf(decision)}`;
  return { ...decision, signature: await vault.seal(words, contextOf(subjectId)) };
}

export async function verifyDecision(
  vault: Vault,
  subjectId: string,
  { signature, ...decision }: Decision,
  realNow = new Date(),
): Promise<SignatureCheck> {
  if (typeof signature !== 'string') return 'invalid';
  try {
    const [sealedAt, words] = (await vault.open(signature, contextOf(subjectId))).split(' ');
    if (words !== wordsOf(decision)) return 'invalid';
    return realNow.getTime() - Date.parse(sealedAt ?? '') <= signatureValidMs ? 'valid' : 'expired';
  } catch (error) {
    if (error instanceof VaultError) return 'invalid';
    throw error;
  }
}

/** The update id: a repeat within the same five minutes joins the first update; a later one has a new signature. */
export const askedAs = (causeId: string, sealedAt: Date): string =>
  `${causeId}/${Math.floor(sealedAt.getTime() / (signatureValidMs / 2))}`;

const contextOf = (subjectId: string): string => `decision/${subjectId}`;

/** A digest, because strings in a payload must be short. */
const wordsOf = ({ decision, actor, by, causeId, requestId, runId, changes }: Decision): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        ...[decision, actor, by, causeId, requestId],
        ...(runId === undefined ? [] : [runId]),
        ...(changes === undefined ? [] : [Object.entries(changes).toSorted(([a], [b]) => (a < b ? -1 : 1))]),
      ]),
    )
    .digest('base64url');
