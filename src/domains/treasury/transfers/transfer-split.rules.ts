/**
 * What a split is while its lines are under way and once they have ended, and what its run waits for. The lines decide;
 * a split has no state of its own beside a person's decision. Pure.
 * @module
 */
import { add, type Cents } from '../../../kernel/money.ts';
import type { BankTransferStage, BankTransferStatus } from '../sepa/bank-transfer.rules.ts';
import { isClosed } from './bank-transfer.run.rules.ts';

/** `partially_completed`: every line has ended, and the money of some did not arrive, or came back. */
export const splitStatuses = [
  'pending_approval',
  'pending',
  'completed',
  'partially_completed',
  'returned',
  'failed',
  'cancelled',
  'denied',
] as const;
export type SplitStatus = (typeof splitStatuses)[number];

/** `checking`: the payees of some lines are still being checked, so not all that a person has to decide is known. */
export type SplitStage = 'checking' | SplitStatus;

export const splitDecisions = ['approved', 'denied'] as const;
export type SplitDecision = (typeof splitDecisions)[number];

/** `stage` is null between wallets. */
export type LineState = {
  readonly stage: BankTransferStage | null;
  readonly status: BankTransferStatus;
  readonly amountCents: Cents;
  readonly expiresAt: Date | null;
  readonly closedAt: Date | null;
  readonly returnWindowEndsAt: Date | null;
};

const isUnderWay = ({ status }: LineState): boolean =>
  status === 'pending_approval' || status === 'pending' || status === 'submitted';
const waits = ({ stage }: LineState): boolean => stage === 'pending_approval';

export function splitStage(lines: readonly LineState[]): SplitStage {
  if (lines.some(({ stage }) => stage === 'requested')) return 'checking';
  if (lines.some(waits)) return 'pending_approval';
  if (lines.some(isUnderWay)) return 'pending';
  const endings = new Set(lines.map(({ status }) => status));
  const [ending] = endings;
  if (endings.size === 1 && ending !== undefined && isEnding(ending)) return ending;
  return endings.has('completed') ? 'partially_completed' : 'failed';
}

const isEnding = (status: BankTransferStatus): status is BankTransferStatus & SplitStatus =>
  (splitStatuses as readonly string[]).includes(status);

export const splitStatus = (stage: SplitStage): SplitStatus => (stage === 'checking' ? 'pending' : stage);

export const isSettled = (status: SplitStatus): boolean => status !== 'pending_approval' && status !== 'pending';

/** What has arrived and has not come back. */
export function arrived(lines: readonly LineState[]): { readonly lines: number; readonly amountCents: Cents } {
  const there = lines.filter(({ status }) => status === 'completed');
  return { lines: there.length, amountCents: add(...there.map(({ amountCents }) => amountCents)) };
}

/** Until when all lines that wait can be approved together. */
export const approvalEnds = (lines: readonly LineState[]): Date | null =>
  lines
    .filter(waits)
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .sort((one, other) => one.getTime() - other.getTime())[0] ?? null;

export const linesThatWait = (lines: readonly LineState[]): number => lines.filter(waits).length;

export const splitCommands = ['approve', 'deny', 'cancel'] as const;
export type SplitCommand = (typeof splitCommands)[number];

/** Which lines a command moves. Cancelling takes back every line that the bank cannot have. */
export const isMovedBy: Readonly<Record<SplitCommand, (line: Pick<LineState, 'stage'>) => boolean>> = {
  approve: ({ stage }) => stage === 'pending_approval',
  deny: ({ stage }) => stage === 'pending_approval',
  cancel: ({ stage }) => stage === 'requested' || stage === 'pending_approval' || stage === 'approved',
};

export type Decidable = { readonly decision: SplitDecision | null; readonly lines: readonly LineState[] };

export type Openness = 'open' | 'already' | 'refused';

/** Whether a command has anything to do. What is decided already stays as it was decided first. */
export function splitOpenness({ decision, lines }: Decidable, command: SplitCommand): Openness {
  if (command === 'cancel') {
    if (lines.some(isMovedBy.cancel)) return 'open';
    return lines.some(({ status }) => status === 'cancelled') ? 'already' : 'refused';
  }
  const stage = splitStage(lines);
  if (command === 'approve' && isApproved(decision, stage)) return 'already';
  if (command === 'deny' && (decision === 'denied' || stage === 'denied')) return 'already';
  return stage === 'pending_approval' ? 'open' : 'refused';
}

/** False again where nothing came of the approval. */
export const isApproved = (decision: SplitDecision | null, stage: SplitStage): boolean =>
  decision === 'approved' && !isWithoutEffect(stage);

/** Every line has ended, and the money of none is with its payee. */
export const isWithoutEffect = (stage: SplitStage): stage is 'cancelled' | 'failed' | 'denied' | 'returned' =>
  stage === 'cancelled' || stage === 'failed' || stage === 'denied' || stage === 'returned';

/** Why a command is refused. */
export function whyNot(stage: SplitStage, command: SplitCommand): string {
  if (command === 'cancel') {
    return 'cannot cancel a split of which no line is left: what the bank has is recalled line by line';
  }
  if (stage === 'checking') return `cannot ${command} a split whose payees are still being checked`;
  return `cannot ${command} a split that is ${stage}: no line of it waits`;
}

export type SplitFact = 'payeesChecked' | 'decided' | 'settled' | 'returnWindowsOver';

/** Only its lines move a split, each with due times of its own. */
export function splitFacts(lines: readonly LineState[]) {
  const stage = splitStage(lines);
  const final = lines.every(isLineClosed);
  const reached: SplitFact[] = [];
  if (stage !== 'checking') reached.push('payeesChecked');
  if (stage !== 'checking' && stage !== 'pending_approval') reached.push('decided');
  if (isSettled(splitStatus(stage))) reached.push('settled');
  if (final) reached.push('returnWindowsOver');
  return { final, reached, dueInMs: {} };
}

const isLineClosed = ({ stage, closedAt }: LineState): boolean => stage === null || isClosed({ stage, closedAt });

/** Until when money of its lines can come back. */
export const returnWindowsEnd = (lines: readonly LineState[]): Date | null =>
  lines
    .filter((line) => !isLineClosed(line))
    .flatMap(({ returnWindowEndsAt }) => returnWindowEndsAt ?? [])
    .sort((one, other) => other.getTime() - one.getTime())[0] ?? null;
