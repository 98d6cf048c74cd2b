/**
 * Declares an intent for a payment challenge: for its amount, at its payee. The host of the address that the agent names
 * counts only for the rules, which may forbid it. Pays nothing and mints nothing; the texts that the merchant displays
 * are not taken over.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import type { PaymentChallengeWire } from '../../domains/payments/mpp-challenges/mpp-challenge.contract.ts';
import { paymentChallengeWire } from '../../domains/payments/mpp-challenges/mpp-challenge.wire.ts';
import {
  type Payee,
  payeeToExpect,
  readPayee,
  refusalErrorCode,
} from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import { intentWorkflowId } from '../../domains/spending/intents/intent.messages.ts';
import { intentRecords } from '../../domains/spending/intents/intent.record.service.ts';
import type { PublishedIntent } from '../../domains/spending/intents/intent.wire.ts';
import type { DeclareBody } from '../../domains/spending/intents/intent-declaration.contract.ts';
import type { IntentWire } from '../../domains/spending/intents/intent-shapes.contract.ts';
import type { MerchantFacts } from '../../domains/spending/policies/policy.rules.ts';
import { type Call, ownOf } from '../../http/caller.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Declared } from '../spending/declare-intent.ts';
import { claimedMerchant } from './merchant-of-charge.ts';
import { protectionFrom } from './protection-from.ts';
import { readChallengeText } from './request-credential.ts';

export type HandleChallengeDeps = {
  readonly database: Database;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  readonly declare: (declaration: DeclareBody, call: Call, merchant: MerchantFacts) => Promise<Declared>;
  /** Why an address is not dialled, as far as its text tells; undefined for one that may be. */
  readonly refusalOfUrl: (url: string) => string | undefined;
};

type Order = {
  readonly agentId: DeclareBody['agentId'] & string;
  readonly challenge: string;
  readonly url?: string | undefined;
};
type Handled = { readonly intent: IntentWire; readonly challenge: PaymentChallengeWire };

export const handlePaymentChallenge =
  (deps: HandleChallengeDeps) =>
  async ({ agentId, challenge: text, url }: Order, call: Call): Promise<Handled> => {
    const { database, declare, gateway, refusalOfUrl } = deps;
    const unsafe = url === undefined ? undefined : refusalOfUrl(url);
    if (unsafe !== undefined) throw new DomainError('invalid_request', `body.url: ${unsafe}`);
    const { challenge, charge } = readChallengeText(text);
    const reading = readPayee(charge, url ?? null);
    if (!reading.ok) throw new DomainError(refusalErrorCode(reading.code), reading.reason);
    const { payee } = reading;
    const { ownerId } = ownOf(call);
    const merchant = await claimedMerchant(database.read(), charge);
    const forbidden = await protectionFrom(
      database.read(),
      { ownerId, agentId },
      { payee, realm: challenge.realm, merchant },
    );
    if (forbidden !== undefined)
      throw new DomainError('policy_denied', forbidden.reason, { refusedBy: { rule: 'protect_rule' } });
    // As the payment will be evaluated.
    const facts = { id: payee.recipient, domain: payee.host };
    const { row, isNew } = await declare(declarationFor(agentId, charge.amountCents, payee), call, facts);
    if (isNew) gateway.startSoon(intentWorkflowId(row.id));
    return { intent: await recordOf(deps, row, call), challenge: paymentChallengeWire(challenge, charge, payee) };
  };

const ttlMinutes = 1_440;

function declarationFor(
  agentId: Order['agentId'],
  amountCents: DeclareBody['expectedAmountCents'],
  payee: Payee,
): DeclareBody {
  return {
    agentId,
    purpose: `Machine payment to ${payee.host ?? payee.reference}`,
    ...(amountCents === undefined ? {} : { expectedAmountCents: amountCents }),
    expectedMerchant: payeeToExpect(payee),
    ttlMinutes,
  };
}

async function recordOf(deps: HandleChallengeDeps, row: PublishedIntent, call: Call): Promise<IntentWire> {
  const record = await intentRecords(deps, [row], call);
  return record(row);
}
