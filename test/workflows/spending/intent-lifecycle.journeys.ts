/** Histories of intents: decided by people, expired, and sent invalid signals. @module */

import type { Id } from '../../../src/kernel/ids.ts';
import { day, hour, minute } from '../../../src/kernel/instant.ts';
import { anIntentRun } from '../../support/intent-view.ts';
import type { Actors, Declared } from '../../support/record/actors.ts';
import { execute, intentRun, namesOf, of, reaches, shopUrl } from '../../support/record/purchase.ts';
import { assertShort, type Journey, type Played, until, type WorkflowJourneys } from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played[] => [{ workflow: 'intentLifecycle', journey, workflowId }];

const approvedByUpdate: Journey = async (stage, actors) => {
  const declared = await actors.declare(80);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await actors.intents.approveIntent(of(declared));
  await stage.observe('intentLifecycle: approved', id, names);
  await execute(actors, declared, shopUrl(stage, 'sandbox-hotel', 8_000));
  await stage.observe('intentLifecycle: paid for', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: day + minute } }); // The hotel clears a day later.
  await reaches(actors, declared, 'completed');
  await stage.observe('intentLifecycle: completed', id, names);
  return ended('approved-by-update', id);
};

const approvedBySignal: Journey = async (stage, actors) => {
  const declared = await actors.declare(75);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await stage.signal(id, { decision: 'approve', by: 'anna' });
  await reaches(actors, declared, 'approved');
  await stage.signal(id, { decision: 'deny', by: 'anna' });
  await stage.observe('intentLifecycle: approved, then denied too late', id, names);
  await actors.intents.cancelIntent(of(declared));
  return ended('approved-by-signal', id);
};

const ignoredSignals: Journey = async (stage, actors) => {
  const declared = await actors.declare(85);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  for (const typed of ['please', { decision: 42 }, ['approve'], undefined]) await stage.signal(id, typed);
  await stage.observe('intentLifecycle: pending, signals ignored', id, names);
  await actors.intents.denyIntent(of(declared));
  await stage.observe('intentLifecycle: denied', id, names);
  return ended('ignored-signals', id);
};

/** A shop charges more than passes without a person, who is asked about it; the shop's next attempt passes. */
const declinedCharge: Journey = async (stage, actors) => {
  const { agentId, cardId } = await actors.agent();
  const charge = async () => {
    const order = { cardId, amountCents: 6_500, merchant: 'sandbox-hotel' };
    const answer = await fetch(`${stage.sandboxUrl}/network/purchases`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(order),
    });
    return (await answer.json()) as { transactionId: string };
  };
  await actors.policies.updateAgentPolicy({ params: { agentId }, body: { requireIntent: false } });
  await until(
    () => actors.cards.getCard({ params: { cardId } }),
    ({ status }) => status === 'active',
    'the card to be active',
  );
  const { transactionId } = await charge();
  const [asked] = await until(
    async () => (await actors.intents.listIntents({ query: { agentId } })).data,
    (intents) => intents.length === 1,
    'the person to be asked',
  );
  const declared = { agentId, cardId, intentId: asked?.id as Id<'intent'> };
  const [id, names] = [intentRun(declared), { ...namesOf(declared), charge: transactionId }];
  await stage.observe('intentLifecycle: pending, for a declined charge', id, names);
  await actors.intents.approveIntent(of(declared));
  await stage.observe('intentLifecycle: approved, for a declined charge', id, names);
  await charge();
  await stage.observe('intentLifecycle: paid for by the next attempt', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: day + minute } });
  await reaches(actors, declared, 'completed');
  return ended('declined-charge', id);
};

const cancelled: Journey = async (stage, actors) => {
  const declared = await actors.declare(5);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: approved at once', id, names);
  await actors.intents.cancelIntent(of(declared));
  await stage.observe('intentLifecycle: cancelled', id, names);
  return ended('cancelled', id);
};

const expired: Journey = async (stage, actors) => {
  const declared = await actors.declare(60, { ttlMinutes: 30 });
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: 31 * minute } });
  await reaches(actors, declared, 'expired');
  await stage.observe('intentLifecycle: expired', id, names);
  return ended('expired', id);
};

/** Charged in its first window, let go by in the next ones, and cancelled. */
const recurring: Journey = async (stage, actors) => {
  const declared = await actors.declare(15, { recurring: { cadence: 'daily' } });
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: recurring', id, names);
  await execute(actors, declared, shopUrl(stage, 'sandbox-shop', 1_500));
  await windowsAre(actors, declared, ['completed']);
  await stage.observe('intentLifecycle: recurring, paid for once', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: 2 * day + hour } });
  await windowsAre(actors, declared, ['missed', 'completed']);
  await stage.observe('intentLifecycle: recurring, a window missed', id, names);
  await actors.intents.cancelIntent(of(declared));
  await stage.observe('intentLifecycle: recurring, cancelled', id, names);
  return ended('recurring', id);
};

const windowsAre = ({ intents }: Actors, declared: Declared, statuses: readonly string[]) =>
  until(
    async () =>
      (await intents.listIntentWindows({ ...of(declared), query: {} })).data.map(({ status }): string => status),
    (found) => found.length >= statuses.length && statuses.every((status) => found.includes(status)),
    `windows to be ${statuses.join(', ')}`,
  );

const waits = 'until {time} of business time, then it expires.';
const refused =
  'For the charge {charge} of merchant m_sandbox_hotel (category 7011, country DE), declined by auto_approve_limit: limit 50.00, asked 65.00.';
const page = "The approver's page: {page}";
const due = 'Approved, daily: next due on {day}, charged from {time} until {time}; it ends at {time} of business time.';
const kept =
  '14.00 EUR for agent {agent}. Approved, and kept for payment {payment}, which has not ended: its charge may still come. It neither expires nor is cancelled meanwhile; its deadline {time} of business time counts again afterwards.';
const ignored = '- a signal that is not approve, deny or cancel was ignored';

export const journeys: WorkflowJourneys = {
  workflows: {
    intentLifecycle: {
      queue: 'main',
      id: 'intent/{subject}',
      summary: '{euros} EUR. Intent {subject} of agent {agent}: to be decided, paid or expired',
      hasAgent: true,
      decidedWhile: 'pending_approval',
      histories: [
        'approved-by-update',
        'approved-by-signal',
        'ignored-signals',
        'declined-charge',
        'cancelled',
        'expired',
        'failed',
        'recurring',
      ],
      stages: {
        pending: {
          stage: 'pending_approval',
          status: 'RUNNING',
          details: [`{euros} EUR for agent {agent}. Waiting for a person to approve or deny it ${waits}`, page],
        },
        'pending, signals ignored': {
          stage: 'pending_approval',
          status: 'RUNNING',
          details: [
            `85.00 EUR for agent {agent}. Waiting for a person to approve or deny it ${waits}`,
            page,
            ...[ignored, ignored, ignored, ignored],
          ],
        },
        'pending, for a declined charge': {
          stage: 'pending_approval',
          status: 'RUNNING',
          details: [
            `65.00 EUR for agent {agent}. ${refused} Waiting for a person to approve or deny it ${waits}`,
            page,
          ],
        },
        'approved, for a declined charge': {
          stage: 'approved',
          status: 'RUNNING',
          details: [`65.00 EUR for agent {agent}. ${refused} Approved, waiting for the payment ${waits}`],
        },
        'paid for by the next attempt': {
          stage: 'approved',
          status: 'RUNNING',
          details: [`65.00 EUR for agent {agent}. ${refused} Authorized, waiting for the clearing.`],
        },
        approved: {
          stage: 'approved',
          status: 'RUNNING',
          details: [`80.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`],
        },
        'approved at once': {
          stage: 'approved',
          status: 'RUNNING',
          details: [`5.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`],
        },
        'approved, then denied too late': {
          stage: 'approved',
          status: 'RUNNING',
          details: [
            `75.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`,
            '- deny by anna was refused: cannot deny an intent that is approved',
          ],
        },
        'kept for a payment': { stage: 'approved', status: 'RUNNING', details: [kept] },
        'kept for a payment, then cancelled in vain': {
          stage: 'approved',
          status: 'RUNNING',
          details: [
            kept,
            '- cancel by anna was refused: cannot cancel an intent while payment {payment} for it is open',
          ],
        },
        'paid for': {
          stage: 'approved',
          status: 'RUNNING',
          details: ['80.00 EUR for agent {agent}. Authorized, waiting for the clearing.'],
        },
        completed: {
          stage: 'completed',
          status: 'COMPLETED',
          details: ['80.00 EUR for agent {agent}. Done: completed.'],
        },
        denied: {
          stage: 'denied',
          status: 'COMPLETED',
          details: ['85.00 EUR for agent {agent}. Done: denied.', ...[ignored, ignored, ignored, ignored]],
        },
        cancelled: {
          stage: 'cancelled',
          status: 'COMPLETED',
          details: ['5.00 EUR for agent {agent}. Done: cancelled.'],
        },
        expired: {
          stage: 'expired',
          status: 'COMPLETED',
          details: ['60.00 EUR for agent {agent}. Done: expired.'],
        },
        failed: {
          stage: 'failed',
          status: 'COMPLETED',
          details: ['20.00 EUR for agent {agent}. Done: failed.'],
        },
        recurring: {
          stage: 'approved',
          status: 'RUNNING',
          details: [`15.00 EUR for agent {agent}. ${due}`],
        },
        'recurring, paid for once': {
          stage: 'approved',
          status: 'RUNNING',
          details: [`15.00 EUR for agent {agent}. ${due}`],
        },
        'recurring, a window missed': {
          stage: 'approved',
          status: 'RUNNING',
          details: [`15.00 EUR for agent {agent}. ${due}`],
        },
        'recurring, cancelled': {
          stage: 'cancelled',
          status: 'COMPLETED',
          details: ['15.00 EUR for agent {agent}. Done: cancelled.'],
        },
      },
    },
  },
  journeys: [approvedByUpdate, approvedBySignal, ignoredSignals, declinedCharge, cancelled, expired, recurring],
  waiting: (seen) => {
    const intent = (id: string) => anIntentRun(seen(id), 'pending_approval', { deadlineInMs: day });
    return {
      readIntent: async (id) => intent(id),
      decideIntent: async (id, decision) => {
        assertShort(decision);
        return intent(id);
      },
    };
  },
};
