/**
 * What an operator reads of each workflow in each of its stages: the one table. `{agent}`, `{subject}` and `{webhook}`
 * stand for ids, `{time}` for an instant, `{page}` for an approver's link.
 * @module
 */
type Shown = {
  readonly type: string;
  readonly queue: 'main' | 'webhooks';
  readonly id: string;
  readonly summary: string;
  readonly hasAgent: boolean;
};

/** The same in every stage. */
export const runs: Readonly<Record<string, Shown>> = {
  intentLifecycle: {
    type: 'intentLifecycle',
    queue: 'main',
    id: 'intent/{subject}',
    summary: 'Intent {subject} of agent {agent}: to be decided, paid or expired',
    hasAgent: true,
  },
  cardLifecycle: {
    type: 'cardLifecycle',
    queue: 'main',
    id: 'card/{subject}',
    summary: 'Card {subject} of agent {agent}: issued, kept in step with the processor, closed',
    hasAgent: true,
  },
  agentPolicy: {
    type: 'agentPolicy',
    queue: 'main',
    id: 'agent-policy/{subject}',
    summary: 'Policy of agent {subject}: when it expires, acted upon once',
    hasAgent: true,
  },
  checkout: {
    type: 'checkout',
    queue: 'main',
    id: 'checkout/{subject}',
    summary: 'Checkout of intent {subject} of agent {agent}: paid at the shop, or known not to be',
    hasAgent: true,
  },
  simulation: {
    type: 'simulation',
    queue: 'main',
    id: 'simulation/{subject}',
    summary: 'Simulation {subject} of agent {agent}: a card charged by the simulated network',
    hasAgent: true,
  },
  webhookEndpoint: {
    type: 'webhookEndpoint',
    queue: 'webhooks',
    id: 'webhook-endpoint/{subject}',
    summary: 'Subscription {subject}: failed deliveries, attempted again until none waits',
    hasAgent: false,
  },
};

type Row = {
  readonly stage: string;
  readonly status: 'RUNNING' | 'COMPLETED';
  /** Current details, line by line. */
  readonly details: readonly string[];
};

const waits = 'until {time} of business time, then it expires.';
const page = "The approver's page: {page}";
const due = 'Approved, daily: next due on {day}, charged from {time} until {time}; it ends at {time} of business time.';
const ignored = '- a signal that is not approve, deny or cancel was ignored';

export const stages: Readonly<Record<string, Row>> = {
  'intentLifecycle: pending': {
    stage: 'pending_approval',
    status: 'RUNNING',
    details: [`Waiting for a person to approve or deny it ${waits} {euros} EUR asked by {agent}.`, page],
  },
  'intentLifecycle: pending, signals ignored': {
    stage: 'pending_approval',
    status: 'RUNNING',
    details: [
      `Waiting for a person to approve or deny it ${waits} 85.00 EUR asked by {agent}.`,
      page,
      ...[ignored, ignored, ignored, ignored],
    ],
  },
  'intentLifecycle: approved': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`Approved, waiting for the payment ${waits} 80.00 EUR asked by {agent}.`],
  },
  'intentLifecycle: approved at once': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`Approved, waiting for the payment ${waits} 5.00 EUR asked by {agent}.`],
  },
  'intentLifecycle: approved, then denied too late': {
    stage: 'approved',
    status: 'RUNNING',
    details: [
      `Approved, waiting for the payment ${waits} 75.00 EUR asked by {agent}.`,
      '- deny by anna was refused: cannot deny an intent that is approved',
    ],
  },
  'intentLifecycle: paid for': {
    stage: 'approved',
    status: 'RUNNING',
    details: ['Paid for, waiting for the clearing. 80.00 EUR asked by {agent}.'],
  },
  'intentLifecycle: completed': {
    stage: 'completed',
    status: 'COMPLETED',
    details: ['Done: completed. 80.00 EUR asked by {agent}.'],
  },
  'intentLifecycle: denied': {
    stage: 'denied',
    status: 'COMPLETED',
    details: ['Done: denied. 85.00 EUR asked by {agent}.', ...[ignored, ignored, ignored, ignored]],
  },
  'intentLifecycle: cancelled': {
    stage: 'cancelled',
    status: 'COMPLETED',
    details: ['Done: cancelled. 5.00 EUR asked by {agent}.'],
  },
  'intentLifecycle: expired': {
    stage: 'expired',
    status: 'COMPLETED',
    details: ['Done: expired. 60.00 EUR asked by {agent}.'],
  },
  'intentLifecycle: failed': {
    stage: 'failed',
    status: 'COMPLETED',
    details: ['Done: failed. 20.00 EUR asked by {agent}.'],
  },
  'agentPolicy: waiting to freeze': {
    stage: 'active',
    status: 'RUNNING',
    details: [
      'Waiting until {time} of business time; then its cards are frozen, and no charge passes any more. Policy of {agent}.',
    ],
  },
  'agentPolicy: waiting to close': {
    stage: 'active',
    status: 'RUNNING',
    details: [
      'Waiting until {time} of business time; then its cards are closed for good, and no charge passes any more. Policy of {agent}.',
    ],
  },
  'agentPolicy: waiting to tell': {
    stage: 'active',
    status: 'RUNNING',
    details: [
      'Waiting until {time} of business time; then its owner is notified, and no charge passes any more. Policy of {agent}.',
    ],
  },
  'agentPolicy: frozen': {
    stage: 'expired',
    status: 'RUNNING',
    details: [
      'Expired at {time} of business time; its cards were frozen. For more payments the owner has to change the policy, then unfreeze the cards. Policy of {agent}.',
    ],
  },
  'agentPolicy: closed': {
    stage: 'expired',
    status: 'RUNNING',
    details: [
      'Expired at {time} of business time; its cards were closed for good. For more payments the owner has to change the policy, then issue a new card. Policy of {agent}.',
    ],
  },
  'agentPolicy: told': {
    stage: 'expired',
    status: 'RUNNING',
    details: [
      'Expired at {time} of business time; its owner was notified. For more payments the owner has to change the policy. Policy of {agent}.',
    ],
  },
  'agentPolicy: without an expiry': {
    stage: 'ended',
    status: 'COMPLETED',
    details: ['Done: the policy never expires. Policy of {agent}.'],
  },
  'agentPolicy: agent closed': {
    stage: 'ended',
    status: 'COMPLETED',
    details: ['Done: the agent is closed. Policy of {agent}.'],
  },
  'cardLifecycle: frozen by its policy': {
    stage: 'frozen',
    status: 'RUNNING',
    details: ['Frozen by its policy; waiting for a change. Card of {agent}.'],
  },
  'intentLifecycle: recurring': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`${due} 15.00 EUR asked by {agent}.`],
  },
  'intentLifecycle: recurring, paid for once': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`${due} 15.00 EUR asked by {agent}.`],
  },
  'intentLifecycle: recurring, a window missed': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`${due} 15.00 EUR asked by {agent}.`],
  },
  'intentLifecycle: recurring, cancelled': {
    stage: 'cancelled',
    status: 'COMPLETED',
    details: ['Done: cancelled. 15.00 EUR asked by {agent}.'],
  },
  'checkout: outcome unknown': {
    stage: 'paying',
    status: 'RUNNING',
    details: [
      'The outcome of 15.00 EUR for {agent} is not known yet; the shop is asked again at {time} of business time.',
    ],
  },
  'checkout: paid': { stage: 'paid', status: 'COMPLETED', details: ['Done: paid, 12.50 EUR for {agent}.'] },
  'checkout: paid after all': { stage: 'paid', status: 'COMPLETED', details: ['Done: paid, 15.00 EUR for {agent}.'] },
  'checkout: declined': {
    stage: 'declined',
    status: 'COMPLETED',
    details: ['Done: declined (mcc_blocklist), 20.00 EUR for {agent}.'],
  },
  'checkout: refused': {
    stage: 'refused',
    status: 'COMPLETED',
    details: ['Done: refused (offer_amount), 10.01 EUR for {agent}.'],
  },
  'cardLifecycle: issuing': {
    stage: 'issuing',
    status: 'RUNNING',
    details: ['Waiting for the card processor to issue it. Card of {agent}.'],
  },
  'cardLifecycle: active': {
    stage: 'active',
    status: 'RUNNING',
    details: ['Active; waiting for a change. Card of {agent}.'],
  },
  'cardLifecycle: frozen by its owner': {
    stage: 'frozen',
    status: 'RUNNING',
    details: ['Frozen by its owner; waiting for a change. Card of {agent}.'],
  },
  'cardLifecycle: frozen with its agent': {
    stage: 'frozen',
    status: 'RUNNING',
    details: ['Frozen with its agent; waiting for a change. Card of {agent}.'],
  },
  'cardLifecycle: frozen, the processor away': {
    stage: 'frozen',
    status: 'RUNNING',
    details: ['Waiting for the card processor to accept the state frozen. Card of {agent}.'],
  },
  'cardLifecycle: closed': {
    stage: 'closed',
    status: 'COMPLETED',
    details: ['Done: closed, and the card processor has confirmed it. Card of {agent}.'],
  },
  'simulation: waiting for the network': {
    stage: 'open',
    status: 'RUNNING',
    details: ['Waiting for the simulated network to charge 12.50 EUR for {agent}.'],
  },
  'simulation: done': {
    stage: 'done',
    status: 'COMPLETED',
    details: ['Done: the network has asked and was answered, 12.50 EUR for {agent}.'],
  },
  'simulation: refused': {
    stage: 'refused',
    status: 'COMPLETED',
    details: ['Done: refused (unknown_card), 12.50 EUR for {agent}.'],
  },
  'webhookEndpoint: waiting': {
    stage: 'retrying',
    status: 'RUNNING',
    details: [
      '1 delivery to {webhook} waits, the oldest since {time}. Last failure: HTTP 503. Next attempt at {time} of business time.',
    ],
  },
  'webhookEndpoint: several waiting': {
    stage: 'retrying',
    status: 'RUNNING',
    details: [
      '3 deliveries to {webhook} wait, the oldest since {time}. Last failure: HTTP 503. Next attempt at {time} of business time.',
    ],
  },
  'webhookEndpoint: ended': {
    stage: 'ended',
    status: 'COMPLETED',
    details: ['Done: no delivery to {webhook} waits for another attempt.'],
  },
  'webhookEndpoint: given up': {
    stage: 'ended',
    status: 'COMPLETED',
    details: [
      'Done: no delivery to {webhook} waits for another attempt.',
      '- give-up was ignored: send {"delivery":"whd_…"} for one delivery, or "all" or nothing for all',
      '- retry-now: 3 deliveries',
      '- give-up: 3 deliveries',
    ],
  },
};

/** The table's text as a pattern for one run. */
export function patternOf(text: string, names: Readonly<Record<string, string>>): RegExp {
  const quoted = text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  const filled = quoted.replaceAll(/\{(\w+)\}/g, (whole, name: string) => forms[name] ?? names[name] ?? whole);
  return new RegExp(`^${filled}$`);
}

const forms: Readonly<Record<string, string>> = {
  time: '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z',
  day: '\\d{4}-\\d\\d-\\d\\d',
  euros: '\\d+\\.\\d\\d',
  page: 'http://[\\w.:]+/approve/[0-9a-f]{32}',
};
