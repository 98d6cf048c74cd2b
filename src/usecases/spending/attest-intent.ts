/**
 * A passkey's holder stands by one intent: the challenge that shows its figures, and the attestation that is kept with
 * the challenge's use, in one transaction. Who may reach the intent is settled by the caller.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import {
  type AskedBy,
  ceremony,
  enrolledPasskeys,
  type Matter,
  makeChallenge,
  mayAttest,
  type Passkey,
  type RelyingParty,
  requestChallenge,
  withAssertion,
} from '../../domains/identity/index.ts';
import {
  findIntent,
  type IntentRow,
  maxChargeCentsOf,
  recordAttestation,
  refuseSettled,
} from '../../domains/spending/intents/index.ts';
import { attestedUntil, policyOfAgent } from '../../domains/spending/policies/index.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../http/webauthn.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

export type AttestDeps = { readonly database: Database; readonly relyingParty: RelyingParty };

export type Attestation = {
  readonly intentId: string;
  readonly passkeyId: Id<'passkey'>;
  /** Business time. */
  readonly attestedAt: Date;
  readonly validUntil: Date;
};

/** Options for the browser, for this intent as it is shown. A repeat with the same `challengeId` finds the first one. */
export type IntentChallenge = (
  intent: IntentRow,
  asked: { readonly challengeId: Id<'challenge'>; readonly askedBy: AskedBy; readonly at: Date },
) => Promise<PasskeyChallenge>;

/** A refusal after the challenge was used leaves it used; a fault leaves everything as it was. */
export type AttestIntent = (intent: IntentRow, envelope: AssertionEnvelope, cause: Cause) => Promise<Attestation>;

export const challengeIntent =
  ({ database, relyingParty }: AttestDeps): IntentChallenge =>
  async (intent, { challengeId, askedBy, at }) => {
    refuseSettled(intent, at);
    const enrolled = await enrolledPasskeys(database.read(), intent.ownerId);
    if (enrolled.length === 0) throw noPasskey();
    const mayApprove = enrolled.filter((passkey) => mayAttest(passkey, at));
    if (mayApprove.length === 0) throw tooNew(enrolled[0] as Passkey);
    const challenge = await database.write(async (tx) =>
      makeChallenge(tx, challengeId, { ...(await matterOf(tx, intent)), askedBy }),
    );
    return requestChallenge(relyingParty, challenge, mayApprove);
  };

export const attestIntent =
  ({ database, relyingParty }: AttestDeps): AttestIntent =>
  (intent, envelope, cause) =>
    ceremony(database, async (tx, effect) =>
      withAssertion(
        tx,
        effect,
        { relyingParty, envelope, matter: await matterOf(tx, intent) },
        cause,
        async (inner, { passkey, isRepeat }) => {
          if (isRepeat) return attestationOf(inner, await stillAttested(inner, intent.id, passkey), passkey.id, cause);
          if (!mayAttest(passkey, cause.at)) throw tooNew(passkey);
          return attestationOf(inner, await recordAttestation(inner, intent.id, passkey.id, cause), passkey.id, cause);
        },
      ),
    );

/** Bound to the figures: a challenge that was shown for one amount approves no other. */
const matterOf = async (tx: Tx, intent: IntentRow): Promise<Matter> => ({
  ownerId: intent.ownerId,
  purpose: 'intent',
  subjectId: intent.id,
  amountCents: intent.expectedAmountCents,
  maxChargeCents: (await maxChargeCentsOf(tx, [intent]))(intent),
  merchant: intent.expectedMerchant ?? null,
});

async function attestationOf(tx: Tx, row: IntentRow, passkeyId: Id<'passkey'>, { at }: Cause): Promise<Attestation> {
  const policy = await policyOfAgent(tx, row.agentId);
  const attestedAt = row.attestedAt ?? at;
  const validUntil = attestedUntil({ attestationWindowMinutes: policy?.attestationWindowMinutes ?? null }, attestedAt);
  return { intentId: row.id, passkeyId, attestedAt, validUntil };
}

async function stillAttested(tx: Tx, id: string, passkey: Passkey): Promise<IntentRow> {
  const row = await findIntent(tx, id);
  if (row === null) throw notFound('intent', id);
  if (row.attestedBy === passkey.id) return row;
  throw new DomainError('invalid_state', `passkey ${passkey.id} stands by the intent no more; ask for a new challenge`);
}

const noPasskey = (): DomainError =>
  new DomainError('invalid_state', 'no passkey is enrolled; enrol one with POST /passkeys/register/options first');

const tooNew = ({ id, approvesFrom }: Passkey): DomainError =>
  new DomainError(
    'invalid_state',
    `passkey ${id} was enrolled after the last one was removed; it attests no intent before ${approvesFrom.toISOString()}`,
  );
