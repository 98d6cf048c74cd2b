/**
 * Decides authorizations that came together: one read of all their facts, each decided by the pure rule as if one came
 * after the other, one statement that writes those whose facts still stand. Rare charges, and those that were left, are decided alone.
 * @module
 */
import { type Database, isDatabaseAway } from '../../db/database.ts';
import type { Outcome } from '../../db/lanes.ts';
import { applyAuthorizations, isForBatch } from '../../domains/payments/network/authorization-batch.ts';
import {
  type AuthorizationFacts,
  type Known,
  type Loaded,
  loadAuthorizations,
} from '../../domains/payments/network/authorization-facts.ts';
import type { RiskFacts } from '../../domains/spending/policies/policy.rules.ts';
import { subtract } from '../../kernel/money.ts';
import {
  type Authorization,
  answerAgain,
  answerOf,
  type Decided,
  type DecidingDeps,
  decided,
  factsAsked,
  riskOf,
  type ToWrite,
} from './decide-authorization.ts';

/** Its caller decides it, under locks. */
export const alone = 'alone';

type BatchDeps = DecidingDeps & { readonly database: Pick<Database, 'read'> };
type Ended = Outcome<Decided | typeof alone>;
type Question = { readonly received: Authorization; readonly loaded: Loaded };
type Written = ToWrite & { readonly received: Authorization; readonly facts: AuthorizationFacts };

/** All of different network ids, and without payment tokens. */
export async function decideBatch(deps: BatchDeps, batch: readonly Authorization[]): Promise<readonly Ended[]> {
  try {
    return await decideTogether(deps, batch);
  } catch (error) {
    // Nothing was written. While the database is away each fails alone as well; another fault may be of one item.
    if (isDatabaseAway(error)) throw error;
    return batch.map(() => ({ done: alone }));
  }
}

async function decideTogether(deps: BatchDeps, batch: readonly Authorization[]): Promise<readonly Ended[]> {
  const tx = deps.database.read();
  const loaded = await loadAuthorizations(tx, batch.map(factsAsked));
  const questions = batch.map((received, i): Question => ({ received, loaded: loaded[i] as Loaded }));
  const risks = await Promise.all(
    questions.map(async ({ received, loaded: one }) =>
      isPlain(one) ? riskOf(tx, deps, received, one.facts) : undefined,
    ),
  );
  const before = createBefore();
  const found = questions.map(({ received, loaded: one }, i): Ended | Written => {
    if ('known' in one) return answeredAgain(deps, received, one.known);
    const risk = risks[i];
    if (risk === undefined || !isPlain(one)) return { done: alone };
    if (before.hasPaid(one.facts)) return { again: `agent/${one.facts.agent.id}` };
    const left = before.leftOf(one.facts);
    const written = decidedAfter(left, received, risk);
    if (written === undefined || !isForBatch(written.writing)) return { done: alone };
    // What those before it would hold is not written yet, and may be left: it declines and shortens nothing.
    if (left !== one.facts && written.decision.outcome !== 'approved')
      return { again: `source/${one.facts.fundingSource}` };
    before.add(written);
    return written;
  });
  const written = found.filter((one): one is Written => 'writing' in one);
  const isWritten =
    written.length === 0
      ? []
      : await applyAuthorizations(
          tx,
          written.map(({ writing }) => writing),
        );
  const left = new Set(written.filter((_, i) => isWritten[i] !== true));
  return found.map((one) => {
    if (!('writing' in one)) return one;
    return { done: left.has(one) ? alone : answerOf(deps, one.received, one.facts, one) };
  });
}

/** Undefined: a fault, which its own decision throws again. */
function decidedAfter(facts: AuthorizationFacts, received: Authorization, risk: RiskFacts): Written | undefined {
  try {
    return { received, facts, ...decided(received, facts, risk) };
  } catch {
    return undefined;
  }
}

type Plain = { readonly facts: AuthorizationFacts };
const isPlain = (loaded: Loaded): loaded is Plain =>
  'facts' in loaded && loaded.facts.early.length === 0 && loaded.facts.orphan === null;

/** What those before it in the batch have changed for an item. */
function createBefore() {
  const agents = new Set<string>();
  const heldCents = new Map<string, number>();
  return {
    /** Its agent has paid, so its facts are read again. A decline changes nothing. */
    hasPaid: ({ agent }: AuthorizationFacts): boolean => agents.has(agent.id),
    leftOf: (facts: AuthorizationFacts): AuthorizationFacts => {
      const held = heldCents.get(facts.fundingSource) ?? 0;
      return held === 0 ? facts : { ...facts, availableCents: subtract(facts.availableCents, held) };
    },
    add: ({ facts: { agent, fundingSource }, decision }: Written): void => {
      if (decision.outcome === 'declined') return;
      agents.add(agent.id);
      heldCents.set(fundingSource, (heldCents.get(fundingSource) ?? 0) + decision.holdCents);
    },
  };
}

/** The same id saying something else is refused, and concerns that message alone. */
function answeredAgain(deps: DecidingDeps, received: Authorization, known: Known): Ended {
  try {
    return { done: answerAgain(deps, received, known) };
  } catch (error) {
    return { failed: error };
  }
}
