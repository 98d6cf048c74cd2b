/** Tools for planning a purchase: what is allowed, intents, evidence. @module */
import { setTimeout } from 'node:timers/promises';
import { grants } from '../../http/scopes.ts';
import type { Next, Outcome } from '../answer.ts';
import { policyInWords } from '../policy-in-words.ts';
import { refusal } from '../refusals.ts';
import type { Answer, Arguments, Calling, Tool } from '../tool.ts';
import { afterDeclined, afterIntent, afterList, nothingNext } from './steps.ts';

const intent = { id: 'intentId' };

export const defaultWaitSeconds = 4;
export const longestWaitSeconds = 45;

export const agentOf = ({ caller }: Calling, given: Arguments): unknown =>
  caller.kind === 'agent' ? caller.agentId : given.agentId;

export const spendingTools: readonly Tool[] = [
  {
    name: 'allowance_get',
    title: 'What may I spend?',
    description:
      'Shows what this agent may spend: its rules in words and in figures, and the money that is available. Call it first when you plan a purchase, and when a payment was refused. It promises nothing: policy_simulate answers for one payment, intents_declare decides.',
    reason: 'A model plans better with the limits than by being refused.',
    operations: ['getAgentPolicy', 'getAgentWallet'],
    isOfAgent: true,
    input: {},
    output: (answerOf) => ({
      type: 'object',
      properties: {
        policyInWords: { type: 'string', description: 'The rules in sentences.' },
        policy: answerOf('getAgentPolicy'),
        wallet: {
          anyOf: [answerOf('getAgentWallet'), { type: 'null' }],
          description: 'null without the right to see it.',
        },
      },
      required: ['policyInWords', 'policy', 'wallet'],
    }),
    run: readAllowance,
  },
  {
    name: 'policy_simulate',
    title: 'Would a payment be allowed?',
    description:
      'Says what the rules decide about one payment now, without storing anything: allowed, needs a person, or denied with the rule and its figures. Use it before intents_declare when you compare offers. Give the amount in euros, and the merchant if you know it.',
    reason: 'Comparing offers must leave no denied intents behind.',
    operation: 'simulatePolicy',
    next: ({ allowed, requiresApproval }) =>
      allowed === true
        ? {
            do:
              requiresApproval === true
                ? 'A person would be asked. Declare it if it is wanted.'
                : 'Declare it if it is wanted.',
            tool: 'intents_declare',
          }
        : {
            do: 'It would be denied. Do not declare it unchanged, and do not split the payment.',
            tool: 'allowance_get',
            arguments: {},
          },
  },
  {
    name: 'intents_declare',
    title: 'Declare a purchase',
    description:
      'Declares what you want to buy, which every purchase begins with: purpose, amount and merchant. The rules answer at once: approved (pay next), pending_approval (a person decides), or a refusal with the rule. It moves no money. The same purchaseRef finds the first declaration, so repeat a call after a time-out with the same one.',
    reason: 'Every payment needs an approved intent.',
    operation: 'declareIntent',
    purchase: 'clientIntentId',
    without: ['cardName', 'expectedAmount'],
    required: ['expectedAmountEuros'],
    next: afterIntent,
    refuse: refuseDeclared,
  },
  {
    name: 'intents_get',
    title: 'Read an intent',
    description:
      'Reads one intent: its state, what was declared, and what to do next. Use intents_wait where a person decides.',
    reason: 'An agent that lost the thread finds it again.',
    operation: 'getIntent',
    names: intent,
    next: afterIntentWithPayments,
  },
  {
    name: 'intents_wait',
    title: 'Wait for a person’s decision',
    description: `Waits until a person has decided about an intent, at most waitSeconds (${defaultWaitSeconds} if absent, ${longestWaitSeconds} at most), and answers with its state. While the state is still pending_approval, \`next\` is the same call to make again. Nobody but the person can approve; the link to do so is not shown here.`,
    reason: 'Approval takes minutes, and polling costs a model a turn each time.',
    operation: 'getIntent',
    names: intent,
    further: {
      waitSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: longestWaitSeconds,
        description: `How long to wait; absent: ${defaultWaitSeconds}.`,
      },
    },
    call: waitForDecision,
    next: (body, given, calling) =>
      body.status === 'pending_approval'
        ? {
            do: 'Still pending: the person has not decided. Make the same call again, or do something else meanwhile.',
            tool: 'intents_wait',
            arguments: given,
          }
        : afterIntentWithPayments(body, given, calling),
  },
  {
    name: 'intents_list',
    title: 'List intents',
    description:
      'Lists intents, newest first, optionally of one state. Use it to find a purchase whose id you no longer have.',
    reason: 'A new conversation finds the purchases of the last one.',
    operation: 'listIntents',
    next: afterList('intents_list', 'Read one with intents_get.'),
  },
  {
    name: 'intents_cancel',
    title: 'Cancel an intent',
    description:
      'Cancels an intent that is not paid and not wanted any more, so that it no longer counts towards the limits. Refused while a payment is under way.',
    reason: 'An intent that is not wanted holds a part of the limits.',
    operation: 'cancelIntent',
    names: intent,
    isDestructive: true,
    next: nothingNext,
  },
  {
    name: 'intents_verify',
    title: 'Compare what was paid with what was declared',
    description:
      'Compares what a merchant really charged with the declaration of a paid intent. Give the amount or the merchant of the receipt, or both.',
    reason: 'The agent has the receipt; only it can compare.',
    operation: 'verifyIntent',
    names: intent,
    next: ({ verified }) =>
      verified === true
        ? { do: 'It fits. Nothing is left to do.' }
        : { do: 'It does not fit. Tell the person, with both figures.' },
  },
  {
    name: 'evidence_add',
    title: 'Keep evidence',
    description:
      'Keeps a receipt, an invoice or a description beside an intent, for the person who checks later. The address of a document is kept and never opened.',
    reason: 'The agent is the one that sees receipts.',
    operation: 'createEvidence',
    isRepeatable: true,
    next: nothingNext,
  },
];

async function readAllowance(given: Arguments, calling: Calling): Promise<Outcome> {
  const agentId = agentOf(calling, given);
  const policy = await calling.ask('getAgentPolicy', { params: { agentId } });
  if (policy.status !== 200) return refusal(policy, { tool: 'allowance_get', arguments: given });
  const wallet = await calling.ask('getAgentWallet', { params: { id: agentId } });
  return {
    kind: 'result',
    result: {
      policyInWords: policyInWords(policy.body),
      policy: policy.body,
      wallet: wallet.status === 200 ? wallet.body : null,
    },
    next: {
      do: 'Declare a purchase that fits. Its amount counts from the moment it is approved.',
      tool: 'intents_declare',
    },
  };
}

/** An intent stays approved when a machine payment of it was declined, and the same purchaseRef finds that payment. */
async function afterIntentWithPayments(body: Answer['body'], given: Arguments, calling: Calling): Promise<Next> {
  const next = afterIntent(body, given);
  const { caller } = calling;
  const isBeingPaid = typeof body.openPaymentId === 'string' || typeof body.transferId === 'string';
  if (body.status !== 'approved' || isBeingPaid) return next;
  if (caller.kind === 'agent' && !grants(caller.scopes, 'mpp.read')) return next;
  const payments = await calling.ask('listMppPayments', { query: { intentId: body.id, limit: 1 } });
  const [last] = payments.status === 200 ? (payments.body.data as readonly Answer['body'][]) : [];
  return last?.status === 'declined' ? afterDeclined(last) : next;
}

/** Asks once where too many calls wait: the answer is the state as it is. */
async function waitForDecision(ask: () => Promise<Answer>, given: Arguments, calling: Calling): Promise<Answer> {
  const free = calling.takeWait();
  if (free === undefined) return ask();
  try {
    return await untilDecided(ask, given, calling);
  } finally {
    free();
  }
}

/** Until the state is another one, or the time is over. The pauses grow, because a person needs seconds at least. */
async function untilDecided(
  ask: () => Promise<Answer>,
  given: Arguments,
  { signal, progress }: Calling,
): Promise<Answer> {
  const seconds = waitOf(given);
  const until = performance.now() + seconds * 1_000;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
    const answer = await ask();
    const leftMs = until - performance.now();
    if (answer.status !== 200 || answer.body.status !== 'pending_approval' || leftMs <= 0 || signal.aborted)
      return answer;
    await progress(Math.round(seconds - leftMs / 1_000), seconds);
    await setTimeout(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined); // The client is gone: it ends.
  }
}

function waitOf({ waitSeconds }: Arguments): number {
  const wanted = typeof waitSeconds === 'number' && Number.isFinite(waitSeconds) ? waitSeconds : defaultWaitSeconds;
  return Math.min(Math.max(wanted, 0), longestWaitSeconds);
}

/** A denied declaration is a refusal, and so is a purchaseRef that means another purchase. */
async function refuseDeclared(found: Answer['body'], given: Arguments, calling: Calling): Promise<Outcome | undefined> {
  const asked = { tool: 'intents_declare', arguments: given };
  const { expectedAmountEuros } = found;
  const others = differencesOf(found, given);
  if (others.length > 0) {
    const message = `this purchaseRef was declared before, with another ${others.join(', ')}`;
    return {
      ...refusal({ code: 'conflict', message }, asked),
      figures: {
        intentId: found.id,
        declaredEuros: expectedAmountEuros,
        askedEuros: given.expectedAmountEuros ?? null,
      },
    };
  }
  if (found.status !== 'denied') return undefined;
  const { reason } = (found.policyCheck ?? {}) as { readonly reason?: unknown };
  const message = String(found.deniedReason ?? reason ?? 'denied');
  const decided = await decisionAbout(found, calling);
  const refused = refusal({ code: 'policy_denied', message }, asked, decided);
  return { ...refused, figures: { intentId: found.id, ...refused.figures } };
}

/** The fields in which a declaration is another one. Which card, and until when, Bursar chooses where it is left open. */
function differencesOf(found: Answer['body'], given: Arguments): string[] {
  const textOf = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : (value ?? null));
  const isSame: Readonly<Record<string, boolean>> = {
    amount: found.expectedAmountEuros === given.expectedAmountEuros,
    merchant: textOf(found.expectedMerchant) === textOf(given.expectedMerchant),
    purpose: textOf(found.purpose) === textOf(given.purpose),
    card: given.cardId === undefined || found.cardId === given.cardId,
    recurrence: isSameRecurrence(found.recurring, given.recurring),
  };
  return Object.keys(isSame).filter((name) => isSame[name] === false);
}

/** What is left out has its default. */
function isSameRecurrence(found: unknown, given: unknown): boolean {
  if ((found ?? null) === null || (given ?? null) === null) return (found ?? null) === (given ?? null);
  const kept = found as Arguments;
  return Object.entries(given as Arguments).every(([name, value]) => kept[name] === value);
}

type Simulated = {
  readonly allowed?: unknown;
  readonly rule?: unknown;
  readonly trace?: readonly { readonly rule: string; readonly figures: Readonly<Record<string, unknown>> }[];
};

/** The rule and the figures as they are now, of a payment that was just denied. Undefined where they allow it by now. */
export async function decisionAbout(
  { agentId, expectedAmountEuros, expectedMerchant }: Answer['body'],
  calling: Calling,
): Promise<{ rule: string; figures: Readonly<Record<string, unknown>> } | undefined> {
  const merchant = typeof expectedMerchant === 'string' ? { merchant: expectedMerchant } : {};
  const answer = await calling.ask('simulatePolicy', { body: { agentId, amount: expectedAmountEuros, ...merchant } });
  const { allowed, rule, trace = [] }: Simulated = answer.status === 200 ? answer.body : {};
  if (allowed !== false || typeof rule !== 'string') return undefined;
  return { rule, figures: trace.find((entry) => entry.rule === rule)?.figures ?? {} };
}
