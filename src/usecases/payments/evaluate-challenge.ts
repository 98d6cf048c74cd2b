/**
 * Evaluates a payment challenge for an intent before anything is minted: the intent, its payee, the card, the owner's
 * protection rules, and the spending rules as the network's authorization will apply them. Reads only.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { Challenge, ChargeRequest } from '../../domains/payments/mpp/challenge.wire.ts';
import {
  type ChallengeEvaluation,
  evaluateChallenge as evaluateFacts,
  type Refused,
  readPayee,
  refused,
} from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { matchableIntent } from '../../domains/spending/intents/matchable-intent.rules.ts';
import { payableAt, windowOfNow } from '../../domains/spending/intents/windows/window.now.service.ts';
import type { EvaluateCharge } from './evaluate-charge.ts';
import { protectionBy } from './protection-from.ts';
import { type ReadForMinting, readForMinting } from './read-for-minting.ts';

export type ChallengeOrder = {
  readonly intent: IntentRow;
  /** The card that the caller names. */
  readonly cardId: string;
  /** The payment that it is for; null where the caller presents the credential. */
  readonly paymentId: string | null;
  readonly challenge: Pick<Challenge, 'id' | 'expires' | 'realm'>;
  readonly charge: ChargeRequest;
  /** Of the address that sent the challenge; null where only the challenge is known. */
  readonly origin: string | null;
};

export type EvaluatedChallenge = Refused | (Exclude<ChallengeEvaluation, Refused> & { readonly read: ReadForMinting });

export type EvaluateChallenge = (tx: Tx, order: ChallengeOrder, at: Date) => Promise<EvaluatedChallenge>;

/** `at` is business time. A later change of the facts may still lead the network's authorization to another decision. */
export const evaluateChallenge =
  ({ evaluate }: { readonly evaluate: EvaluateCharge }): EvaluateChallenge =>
  async (tx, { intent, cardId, paymentId, challenge, charge, origin }, at) => {
    const reading = readPayee(charge, origin);
    if (!reading.ok) return reading;
    const { payee } = reading;
    if (intent.cardId !== cardId) {
      return refused('card', `intent ${intent.id} is for card ${intent.cardId}, not for ${cardId}`);
    }
    const taken = await windowOfNow(tx, intent, at);
    const matchable = matchableIntent(intent, taken === null ? [] : [taken], payableAt(intent, at));
    const why = whyUnpayable(stateOf(intent), at) ?? matchable.closedBecause;
    if (why !== undefined) return refused('intent', why);
    const read = await readForMinting(tx, intent, charge);
    const { brand, cardRef } = read.card;
    // Category and country are the network's to say, so a rule about them is applied at the authorization.
    const planned = {
      intentId: intent.id,
      cardId,
      cardRef,
      paymentId,
      phase: 'access',
      request: {
        amountCents: charge.amountCents,
        merchant: { id: payee.recipient, domain: payee.host },
        kind: 'purchase',
      },
    } as const;
    const { decision, tolerancePercent } = await evaluate(tx, planned, at);
    const facts = {
      challenge,
      charge,
      payee,
      intent: matchable,
      tolerancePercent,
      brand,
      protection: protectionBy(read.rules, intent.agentId, { payee, realm: challenge.realm, merchant: read.claimed }),
      decision,
    };
    const evaluation = evaluateFacts(facts, new Date());
    return evaluation.ok ? { ...evaluation, read } : evaluation;
  };
