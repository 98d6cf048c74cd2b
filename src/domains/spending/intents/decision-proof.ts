/**
 * Tells a decision that the API settled from one that somebody typed into Temporal: the API's carries a seal over its
 * words that only a holder of the vault's key can make. Whoever reaches Temporal alone decides as a signal does.
 * @module
 */
import { createHash } from 'node:crypto';
import { type Vault, VaultError } from '../../../vault/vault.ts';
import type { IntentDecision } from './intent.messages.ts';

export type Proven = IntentDecision & { readonly proof: string };

export async function proven(vault: Vault, intentId: string, decision: IntentDecision): Promise<Proven> {
  return { ...decision, proof: await vault.seal(wordsOf(decision), contextOf(intentId)) };
}

export async function isProven(
  vault: Vault,
  intentId: string,
  { proof, ...decision }: IntentDecision,
): Promise<boolean> {
  if (typeof proof !== 'string') return false;
  try {
    return (await vault.open(proof, contextOf(intentId))) === wordsOf(decision);
  } catch (error) {
    if (error instanceof VaultError) return false;
    throw error;
  }
}

const contextOf = (intentId: string): string => `decision/${intentId}`;

/** Of one length, whatever is in it: a payload's strings are short. */
const wordsOf = ({ decision, actor, by, causeId, requestId }: IntentDecision): string =>
  createHash('sha256')
    .update(JSON.stringify([decision, actor, by, causeId, requestId]))
    .digest('base64url');
