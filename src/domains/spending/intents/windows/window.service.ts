/**
 * Window writes of recurring intents: matched, paid and missed. Each locks the intent first, decides by the rules and
 * writes row, events and workflow run in the caller's transaction. An authorization matches a window in its own
 * statement (apply_authorization).
 * @module
 */
import { db } from '../../../../db/db.ts';
import type { Tx } from '../../../../db/tx.ts';
import type { EventsLike } from '../../../../events/catalog.ts';
import { recordChanges } from '../../../../events/record.ts';
import { DomainError } from '../../../../kernel/errors.ts';
import type { Cause } from '../../../../platform/cause.ts';
import { setWorkflowRunDue, wakeWorkflowRun } from '../../../../platform/workflow-runs.ts';
import type { IntentRow } from '../intent.entity.ts';
import { lockIntent } from '../intent.lock.service.ts';
import { intentWorkflowId } from '../intent.messages.ts';
import { isFinalIntent } from '../intent.rules.ts';
import { scheduleOf } from '../matchable-intent.rules.ts';
import { dueAt, show } from './current-window.ts';
import { type Window, windowAt, windowNumbered } from './recurrence.rules.ts';
import { windowChangeOf } from './window.changes.ts';
import { payableAt } from './window.now.service.ts';
import { findWindow, type WindowRow, windowColumns, windowOfTransaction } from './window.queries.ts';
import { moveWindow, type WindowCommand, type WindowStatus } from './window.rules.ts';

/** The form was filled elsewhere: the window of now is paid for, by this transaction alone. The intent is locked. */
export async function completeWindowNow(tx: Tx, intent: IntentRow, transactionId: string, cause: Cause): Promise<void> {
  const schedule = scheduleOf(intent);
  const window = schedule === undefined ? undefined : windowAt(schedule, payableAt(intent, cause.at));
  if (window === undefined) throw new DomainError('invalid_state', 'no window of this intent is open now');
  const known = await findWindow(tx, intent.id, window.number);
  await move(tx, intent, known ?? fresh(intent, window), { command: 'complete', transactionId }, cause);
  if (intent.windowNumber === window.number) await showFrom(tx, intent, window.number + 1, cause);
  await wakeWorkflowRun(tx, intentWorkflowId(intent.id), dueAt(intent));
}

/** The network has collected, or given everything back. Nothing where this transaction pays for no window. */
export async function settleWindow(
  tx: Tx,
  intentId: string,
  transactionId: string,
  command: 'complete' | 'reopen',
  cause: Cause,
): Promise<void> {
  const intent = await lockIntent(tx, intentId);
  const window = await windowOfTransaction(tx, intentId, transactionId);
  if (window?.status !== 'matched') return; // A confirm completed it before.
  const status = await move(tx, intent, window, { command, transactionId }, cause);
  // An earlier one that is shown still is unpaid, and has to be seen to end.
  const isCurrentAgain = status === 'open' && (intent.windowNumber == null || intent.windowNumber > window.number);
  if (isCurrentAgain) await showFrom(tx, intent, window.number, cause);
  await wakeWorkflowRun(tx, intentWorkflowId(intent.id), dueAt(intent));
}

type Charge = { readonly id: string; readonly at: Date };

/**
 * A charge is collected after its window was given back, or although it was declined: the window that the charge fell
 * in is matched to it. False where that window is over, or paid for by another transaction.
 */
export async function payWindowAgain(tx: Tx, intentId: string, charge: Charge, cause: Cause): Promise<boolean> {
  const intent = await lockIntent(tx, intentId);
  if ((await windowOfTransaction(tx, intentId, charge.id)) !== null) return true;
  const schedule = scheduleOf(intent);
  const window = schedule === undefined ? undefined : windowAt(schedule, charge.at);
  if (window === undefined || window.toAt <= cause.at || isFinalIntent(intent.status)) return false;
  const known = await findWindow(tx, intent.id, window.number);
  if (known !== null && known.status !== 'open') return false;
  await move(tx, intent, known ?? fresh(intent, window), { command: 'match', transactionId: charge.id }, cause);
  if (intent.windowNumber === window.number) await showFrom(tx, intent, window.number + 1, cause);
  await wakeWorkflowRun(tx, intentWorkflowId(intent.id), dueAt(intent));
  return true;
}

/** A bounded number at once; the rest follows in the next call, so that the intent is not locked for long. */
const endedAtOnce = 400;

/** Marks ended unpaid windows as missed and stores the next window. A step of the workflow run. */
export async function endWindows(tx: Tx, intentId: string, cause: Cause): Promise<IntentRow> {
  const intent = await lockIntent(tx, intentId);
  const schedule = scheduleOf(intent);
  if (intent.status !== 'approved' || schedule === undefined || intent.windowNumber == null) return intent;
  if (intent.openPaymentId != null) return intent; // Its payment may still be charged in a window that is over.
  const over: Window[] = [];
  let number = intent.windowNumber;
  for (; over.length < endedAtOnce; number++) {
    const window = windowNumbered(schedule, number);
    if (window === undefined || window.toAt > cause.at) break;
    over.push(window);
  }
  if (over.length === 0) return intent;
  const missed = await insertMissed(
    tx,
    over.map((window) => fresh(intent, window)),
    cause,
  );
  const changes = missed.map((window) => windowChangeOf(intent, 'intent_window.missed', window));
  await recordChanges(tx, cause, changes);
  await showFrom(tx, intent, number, cause);
  await setWorkflowRunDue(tx, intentWorkflowId(intent.id), dueAt(intent));
  return intent;
}

type Step = { readonly command: WindowCommand; readonly transactionId: string };

async function move(tx: Tx, intent: IntentRow, from: WindowRow, { command, transactionId }: Step, cause: Cause) {
  const moved = moveWindow(from, command, {
    by: transactionId,
    at: cause.at,
    isIntentOver: isFinalIntent(intent.status),
  });
  if (moved.outcome === 'refused') throw new DomainError('invalid_state', moved.why);
  const status = moved.next;
  const isPaid = status === 'matched' || status === 'completed';
  const next: WindowRow = {
    ...from,
    status,
    transactionId: isPaid ? transactionId : null,
    completedAt: status === 'completed' ? cause.at : null,
  };
  await save(tx, next, cause);
  if (isPaid) intent.transactionId = transactionId;
  else if (intent.transactionId === transactionId) intent.transactionId = null;
  intent.updatedAt = cause.at;
  await tx.flush();
  const event = eventOf[status];
  if (event !== undefined) await recordChanges(tx, cause, [windowChangeOf(intent, event, next)]);
  return status;
}

const eventOf: Partial<Record<WindowStatus, EventsLike<'intent_window.completed'>>> = {
  completed: 'intent_window.completed',
  missed: 'intent_window.missed',
};

/** The first window from `number` on that nothing has paid for, and that is not known to be over. */
async function showFrom(tx: Tx, intent: IntentRow, number: number, { at }: Cause): Promise<void> {
  const schedule = scheduleOf(intent);
  let window = schedule === undefined ? undefined : windowNumbered(schedule, number);
  while (schedule !== undefined && window !== undefined) {
    const known = await findWindow(tx, intent.id, window.number);
    if (known === null || known.status === 'open') break;
    window = windowNumbered(schedule, window.number + 1);
  }
  show(intent, window);
  intent.updatedAt = at;
  await tx.flush();
}

const fresh = ({ id }: IntentRow, window: Window): WindowRow => ({
  intentId: id,
  ...window,
  status: 'open',
  transactionId: null,
  completedAt: null,
});

async function save(tx: Tx, window: WindowRow, { at }: Cause): Promise<void> {
  const { status, transactionId, completedAt } = window;
  await db(tx)
    .insertInto('intent_windows')
    .values({ ...window, createdAt: at, updatedAt: at })
    .onConflict((conflict) =>
      conflict.columns(['intentId', 'number']).doUpdateSet({ status, transactionId, completedAt, updatedAt: at }),
    )
    .execute();
}

/** What has a row keeps it, unless it was reopened and not paid for since. Returns those that were missed. */
async function insertMissed(tx: Tx, windows: readonly WindowRow[], { at }: Cause): Promise<WindowRow[]> {
  if (windows.length === 0) return [];
  return db(tx)
    .insertInto('intent_windows')
    .values(
      windows
        .map(({ intentId, number, dueAt, fromAt, toAt }) => ({ intentId, number, dueAt, fromAt, toAt }))
        .toSorted((one, other) => one.number - other.number)
        .map((window) => ({ ...window, status: 'missed' as const, createdAt: at, updatedAt: at })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['intentId', 'number'])
        .doUpdateSet({ status: 'missed', updatedAt: at })
        .where('intent_windows.status', '=', 'open'),
    )
    .returning(windowColumns)
    .execute();
}
