/**
 * Window reads of recurring intents: one, the one that a transaction pays, and pages. No decision is made here.
 * @module
 */
import { type Given, query } from '../../../../db/db.ts';
import { type Filters, list, page } from '../../../../db/page.ts';
import type { RowOf, Tables } from '../../../../db/tables.ts';
import type { Tx } from '../../../../db/tx.ts';
import type { Page, PageQuery } from '../../../../kernel/page.ts';
import './window.entity.ts';
import { type WindowStatus, windowCursor } from './window.rules.ts';

export const windowColumns = [
  'intentId',
  'number',
  'dueAt',
  'fromAt',
  'toAt',
  'status',
  'transactionId',
  'completedAt',
] as const satisfies readonly (keyof Tables['intent_windows'])[];

export type WindowRow = Readonly<Pick<RowOf<'intent_windows'>, (typeof windowColumns)[number]>>;

const byNumber = query((from, given: Given<{ intentId: string; number: number }>) =>
  from
    .selectFrom('intent_windows')
    .select(windowColumns)
    .where('intentId', '=', given('intentId'))
    .where('number', '=', given('number')),
);

export const findWindow = (tx: Tx, intentId: string, number: number): Promise<WindowRow | null> =>
  byNumber.first(tx, { intentId, number });

const byTransaction = query((from, given: Given<{ intentId: string; transactionId: string }>) =>
  from
    .selectFrom('intent_windows')
    .select(windowColumns)
    .where('transactionId', '=', given('transactionId'))
    .where('intentId', '=', given('intentId')),
);

export const windowOfTransaction = (tx: Tx, intentId: string, transactionId: string): Promise<WindowRow | null> =>
  byTransaction.first(tx, { intentId, transactionId });

export const latestCompletedWindow = (tx: Tx, intentId: string): Promise<WindowRow | null> =>
  latest.first(tx, { intentId, status: 'completed' });

/** Paid for, and waiting for the clearing. */
export const latestMatchedWindow = (tx: Tx, intentId: string): Promise<WindowRow | null> =>
  latest.first(tx, { intentId, status: 'matched' });

const latest = query((from, given: Given<{ intentId: string; status: WindowStatus }>) =>
  from
    .selectFrom('intent_windows')
    .select(windowColumns)
    .where('intentId', '=', given('intentId'))
    .where('status', '=', given('status'))
    .orderBy('number', 'desc')
    .limit(1),
);

const windows = list(
  (from, given: Filters<{ intentId: string }>) =>
    from.selectFrom('intent_windows').select(windowColumns).where('intentId', '=', given('intentId')),
  {
    columns: ['intent_windows.number'],
    cursorOf: ({ fromAt, number }) => ({ createdAt: fromAt.toISOString(), id: windowCursor.idOf(number) }),
    valuesOf: ({ id }) => [windowCursor.numberOf(id)],
    types: ['bigint'],
  },
);

/** Latest window first. */
export const listWindows = (tx: Tx, intentId: string, pageQuery: PageQuery): Promise<Page<WindowRow>> =>
  page(tx, windows, { intentId }, pageQuery);
