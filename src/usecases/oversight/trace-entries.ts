/** The rows of a trace as its entries: titles in our words, facts beside them. Reads nothing. @module */
import type { TraceEntryWire } from '../../domains/oversight/trace/trace.contract.ts';
import type { TracePart } from '../../domains/oversight/trace/trace.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/index.ts';
import { traceWire } from '../../domains/spending/policies/policy.wire.ts';
import { isoOf } from '../../kernel/instant.ts';
import { cents, centsOrNull, eurosFromCents, eurosOrNull } from '../../kernel/money.ts';
import type {
  TracedDecision,
  TracedDelivery,
  TracedEvent,
  TracedMessage,
  TracedPosting,
  TracedRecord,
  TracedRun,
} from './trace.queries.ts';

type Given = Pick<TraceEntryWire, 'part' | 'title'> & { readonly at: Date } & Partial<Omit<TraceEntryWire, 'at'>>;

export const entryOf = ({ at, ...given }: Given): TraceEntryWire => ({
  id: null,
  parentId: null,
  status: null,
  amountEuros: null,
  rules: [],
  lines: [],
  details: {},
  link: null,
  ...given,
  at: isoOf(at),
});

/** The declaration of an intent, what the policy said, and what a person said or is asked. */
export function intentEntries(row: Readonly<IntentRow>, link: string | null): TraceEntryWire[] {
  const { allowed, requiresApproval, reason } = row.policyCheck;
  const said = requiresApproval ? 'the policy asks for a person' : `the policy ${allowed ? 'allows' : 'refuses'} it`;
  const parentId = row.id;
  const declaration = entryOf({
    at: row.createdAt,
    part: 'declaration',
    id: row.id,
    title: 'declared what the agent wants to pay for',
    status: row.status,
    amountEuros: eurosFromCents(row.expectedAmountCents),
    details: { purpose: row.purpose, merchant: row.expectedMerchant ?? null, expiresAt: isoOf(row.expiresAt) },
  });
  const check = { at: row.createdAt, part: 'decision', parentId, title: said } as const;
  return [
    declaration,
    entryOf({ ...check, details: { reason, policyVersion: row.policyVersion ?? null } }),
    ...approvalEntries(row, link),
  ];
}

function approvalEntries(row: Readonly<IntentRow>, link: string | null): TraceEntryWire[] {
  const common = { part: 'approval', parentId: row.id, link } as const;
  if (row.approvedAt != null) {
    return [entryOf({ ...common, at: row.approvedAt, title: 'approved', details: { by: row.approvedBy ?? null } })];
  }
  if (row.status === 'pending_approval') {
    return [entryOf({ ...common, at: row.createdAt, title: 'waits for a person', status: row.status })];
  }
  const isPersons = row.status === 'denied' && row.policyCheck.requiresApproval;
  if (!isPersons) return [];
  return [entryOf({ ...common, at: row.updatedAt, title: 'denied', details: { reason: row.deniedReason ?? null } })];
}

const titles: Readonly<Record<TracedRecord['part'], (row: TracedRecord) => string>> = {
  checkout: () => 'checkout at a shop',
  machine_payment: () => 'machine payment (HTTP 402)',
  credential: () => 'credential for a merchant',
  transaction: ({ type }) => `transaction by ${type}`,
  evidence: ({ type }) => `evidence: ${type}`,
  access: ({ type, status }) => `${type?.replaceAll('_', ' ')} ${status}`,
  record: ({ type }) => `${type}`,
};

/** `parentOf` names the record that led to this one, among those of the trace. */
export const recordEntry = (row: TracedRecord, parentId: string | null): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: row.part,
    id: row.id,
    parentId,
    title: titles[row.part](row),
    status: row.status,
    amountEuros: eurosOrNull(centsOrNull(row.amountCents)),
    details: given({ host: hostOf(row.url), merchant: row.merchant, code: row.code, reason: row.reason }),
  });

export const decisionEntry = (row: TracedDecision): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'charge_decision',
    parentId: row.transactionId,
    title: `the charge is ${row.outcome} by ${row.rule}`,
    status: row.outcome,
    rules: traceWire(row.trace).map(({ figures, ...rule }) => ({ ...rule, figures: { ...figures } })),
    details: { reason: row.reason, policyVersion: row.policyVersion },
  });

export const messageEntry = (row: TracedMessage): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'network_message',
    id: row.networkId,
    parentId: row.transactionId,
    title: row.kind === 'expiry' ? 'the hold expired' : `${row.kind} by the card network`,
    amountEuros: eurosFromCents(cents(row.amountCents)),
    details: row.isFinal === null ? {} : { final: row.isFinal },
  });

export const postingEntry = (row: TracedPosting): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'posting',
    id: row.id,
    parentId: row.referenceId,
    title: `posted: ${row.kind.replaceAll('_', ' ')}`,
    lines: row.lines.map(({ account, amountCents }) => ({
      account,
      direction: amountCents > 0 ? 'credit' : 'debit',
      amountEuros: eurosFromCents(cents(Math.abs(amountCents))),
    })),
  });

export const eventEntry = (row: TracedEvent): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'event',
    id: row.id,
    parentId: row.subjectId,
    title: row.name,
    details: { position: row.position },
  });

const deliveriesBy: Readonly<Record<TracedDelivery['origin'], string>> = {
  event: 'delivery',
  redelivery: 'repeated delivery',
  recovery: 'recovered delivery',
  test: 'test delivery',
};

export const deliveryEntry = (row: TracedDelivery): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'delivery',
    id: row.id,
    parentId: row.eventId,
    title: `${deliveriesBy[row.origin]} of ${row.event}`,
    status: row.status,
    details: { webhookId: row.webhookId, attempts: row.attempts, responseStatus: row.responseStatus },
  });

export const runEntry = (row: TracedRun, link: string | null): TraceEntryWire =>
  entryOf({
    at: row.at,
    part: 'workflow_run' satisfies TracePart,
    id: row.id,
    parentId: row.subjectId,
    title: `workflow ${row.workflow}`,
    status: row.isOpen ? 'open' : 'closed',
    details: { stage: row.stage },
    link,
  });

const given = (facts: Readonly<Record<string, string | null | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(facts).flatMap(([name, value]) => (value == null ? [] : [[name, value]])));

/** The rest of an address may hold a capability. */
const hostOf = (url: string | null): string | null => (url !== null && URL.canParse(url) ? new URL(url).host : null);
