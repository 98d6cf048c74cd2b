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
    summary: '{euros} EUR. Intent {subject} of agent {agent}: to be decided, paid or expired',
    hasAgent: true,
  },
  cardRequest: {
    type: 'cardRequest',
    queue: 'main',
    id: 'card-request/{subject}',
    summary: 'Card request {subject} of agent {agent}: to be decided by a person, or expired',
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
    summary: '{euros} EUR. Checkout {subject} of agent {agent}: paid at the shop, or known not to be',
    hasAgent: true,
  },
  simulation: {
    type: 'simulation',
    queue: 'main',
    id: 'simulation/{subject}',
    summary: '{euros} EUR. Simulation {subject} of agent {agent}: a card charged by the simulated network',
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

const newCard = 'A new card for agent {agent}.';
const otherLimits = 'Other limits for card {card} of agent {agent}.';
const forDecision = `Waiting for a person to approve it or to deny it, ${waits}`;

export const stages: Readonly<Record<string, Row>> = {
  'intentLifecycle: pending': {
    stage: 'pending_approval',
    status: 'RUNNING',
    details: [`{euros} EUR for agent {agent}. Waiting for a person to approve or deny it ${waits}`, page],
  },
  'intentLifecycle: pending, signals ignored': {
    stage: 'pending_approval',
    status: 'RUNNING',
    details: [
      `85.00 EUR for agent {agent}. Waiting for a person to approve or deny it ${waits}`,
      page,
      ...[ignored, ignored, ignored, ignored],
    ],
  },
  'intentLifecycle: approved': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`80.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`],
  },
  'intentLifecycle: approved at once': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`5.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`],
  },
  'intentLifecycle: approved, then denied too late': {
    stage: 'approved',
    status: 'RUNNING',
    details: [
      `75.00 EUR for agent {agent}. Approved, waiting for the payment ${waits}`,
      '- deny by anna was refused: cannot deny an intent that is approved',
    ],
  },
  'intentLifecycle: paid for': {
    stage: 'approved',
    status: 'RUNNING',
    details: ['80.00 EUR for agent {agent}. Authorized, waiting for the clearing.'],
  },
  'intentLifecycle: completed': {
    stage: 'completed',
    status: 'COMPLETED',
    details: ['80.00 EUR for agent {agent}. Done: completed.'],
  },
  'intentLifecycle: denied': {
    stage: 'denied',
    status: 'COMPLETED',
    details: ['85.00 EUR for agent {agent}. Done: denied.', ...[ignored, ignored, ignored, ignored]],
  },
  'intentLifecycle: cancelled': {
    stage: 'cancelled',
    status: 'COMPLETED',
    details: ['5.00 EUR for agent {agent}. Done: cancelled.'],
  },
  'intentLifecycle: expired': {
    stage: 'expired',
    status: 'COMPLETED',
    details: ['60.00 EUR for agent {agent}. Done: expired.'],
  },
  'intentLifecycle: failed': {
    stage: 'failed',
    status: 'COMPLETED',
    details: ['20.00 EUR for agent {agent}. Done: failed.'],
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
  'agentPolicy: waiting to notify': {
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
  'agentPolicy: notified': {
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
    details: [`15.00 EUR for agent {agent}. ${due}`],
  },
  'intentLifecycle: recurring, paid for once': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`15.00 EUR for agent {agent}. ${due}`],
  },
  'intentLifecycle: recurring, a window missed': {
    stage: 'approved',
    status: 'RUNNING',
    details: [`15.00 EUR for agent {agent}. ${due}`],
  },
  'intentLifecycle: recurring, cancelled': {
    stage: 'cancelled',
    status: 'COMPLETED',
    details: ['15.00 EUR for agent {agent}. Done: cancelled.'],
  },
  'checkout: outcome unknown': {
    stage: 'paying',
    status: 'RUNNING',
    details: [
      '15.00 EUR for agent {agent}, intent {intent}. The outcome is not known yet. The shop is asked again at {time} of business time.',
    ],
  },
  'checkout: paid': {
    stage: 'paid',
    status: 'COMPLETED',
    details: ['12.50 EUR for agent {agent}, intent {intent}. Done: paid.'],
  },
  'checkout: paid after all': {
    stage: 'paid',
    status: 'COMPLETED',
    details: ['15.00 EUR for agent {agent}, intent {intent}. Done: paid.'],
  },
  'checkout: declined': {
    stage: 'declined',
    status: 'COMPLETED',
    details: ['20.00 EUR for agent {agent}, intent {intent}. Done: declined (mcc_blocklist).'],
  },
  'checkout: refused': {
    stage: 'refused',
    status: 'COMPLETED',
    details: ['10.01 EUR for agent {agent}, intent {intent}. Done: refused (offer_amount).'],
  },
  'cardRequest: a new card': { stage: 'pending', status: 'RUNNING', details: [`${newCard} ${forDecision}`, page] },
  'cardRequest: other limits': {
    stage: 'pending',
    status: 'RUNNING',
    details: [`${otherLimits} ${forDecision}`, page],
  },
  'cardRequest: reminded': {
    stage: 'pending',
    status: 'RUNNING',
    details: [`${newCard} ${forDecision} A reminder was sent.`, page],
  },
  'cardRequest: approved': { stage: 'approved', status: 'COMPLETED', details: [`${newCard} Done: approved.`] },
  'cardRequest: denied': {
    stage: 'denied',
    status: 'COMPLETED',
    details: [`${otherLimits} Done: denied.`, ignored],
  },
  'cardRequest: cancelled': { stage: 'cancelled', status: 'COMPLETED', details: [`${newCard} Done: cancelled.`] },
  'cardRequest: expired': { stage: 'expired', status: 'COMPLETED', details: [`${newCard} Done: expired.`] },
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
    details: ['12.50 EUR for agent {agent}. Waiting for the simulated network to charge the card.'],
  },
  'simulation: done': {
    stage: 'done',
    status: 'COMPLETED',
    details: ['12.50 EUR for agent {agent}. Done: the network has charged the card.'],
  },
  'simulation: refused': {
    stage: 'refused',
    status: 'COMPLETED',
    details: ['12.50 EUR for agent {agent}. Done: refused (unknown_card).'],
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
