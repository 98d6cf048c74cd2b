/**
 * Queue of clearings, reversals, advices and refunds to Bursar, as rows that are sent until they are acknowledged. The messages of one
 * authorization are sent one at a time and in order; a message keeps its id and body over all attempts.
 * @module
 */
import type { pino } from 'pino';
import type { Store } from '../store.ts';
import { newReference } from '../wire.ts';
import type { BursarApi } from './bursar-api.ts';

export type MessageKind = 'clearings' | 'reversals' | 'advices' | 'refunds';
export type MessageState = 'queued' | 'acknowledged' | 'refused' | 'withdrawn';
export type MessageRow = {
  id: string;
  kind: MessageKind;
  authorization_id: string;
  body: string;
  state: MessageState;
  wait_ms: number | null;
  due_at_ms: number | null;
  attempts: number;
  last_status: number | null;
  last_answer: string | null;
};

const prefixes = { clearings: 'clr', reversals: 'rev', advices: 'adv', refunds: 'ref' } as const;
const attemptTimeoutMs = 5_000;
const longestPauseMs = 5_000;
const sentPerRound = 20;
const clockAgeForStampsMs = 1_000; // A stamp may be a second behind a clock that was just moved.
const readyNow = `state = 'queued' AND wait_ms IS NULL AND next_attempt_at_ms <= ?`;

export type OutgoingOptions = {
  store: Store;
  bursar: BursarApi;
  log: pino.Logger;
  pollMs: number;
  clockPollMs: number;
};

export function createOutgoing({ store, bursar, log, pollMs, clockPollMs }: OutgoingOptions) {
  const lanes = new Map<string, Promise<void>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let clockReadAtMs = 0;

  /** Sends what is ready for this authorization, oldest first, up to the first that Bursar does not take. */
  async function drain(authorizationId: string): Promise<void> {
    while (!stopped) {
      const oldest = store.one<MessageRow & { next_attempt_at_ms: number }>(
        `SELECT * FROM outgoing WHERE authorization_id = ? AND state = 'queued' AND wait_ms IS NULL ORDER BY seq LIMIT 1`,
        authorizationId,
      );
      if (oldest === undefined || oldest.next_attempt_at_ms > Date.now()) return;
      if ((await attempt(oldest)) === 'queued') return;
    }
  }

  async function attempt(message: MessageRow): Promise<MessageState> {
    const body = message.kind === 'clearings' ? await stamped(message) : message.body;
    const answer = await bursar.send(message.kind, body, attemptTimeoutMs);
    const state = stateAfter(answer?.status);
    const pauseMs = Math.min(longestPauseMs, 100 * 2 ** Math.min(message.attempts, 10));
    store.run(
      `UPDATE outgoing SET state = ?, attempts = attempts + 1, next_attempt_at_ms = ?, last_status = ?, last_answer = ?
       WHERE id = ? AND state = 'queued'`,
      state,
      Date.now() + pauseMs,
      answer?.status ?? null,
      answer?.text.slice(0, 2_000) ?? null,
      message.id,
    );
    const said = { messageId: message.id, kind: message.kind, status: answer?.status, attempt: message.attempts + 1 };
    if (state === 'refused') log.warn(said, 'Bursar refused a network message for good');
    else log.info(said, state === 'queued' ? 'network message not acknowledged yet' : 'network message acknowledged');
    return state;
  }

  /** `clearedAt` is business time, fixed at the first attempt so that every repeat has the same body. */
  async function stamped(message: MessageRow): Promise<string> {
    const fields = JSON.parse(message.body) as Record<string, unknown>;
    if ('clearedAt' in fields) return message.body;
    const clearedAt = new Date((await bursar.businessNowMs(clockAgeForStampsMs)) ?? Date.now()).toISOString();
    const body = JSON.stringify({ ...fields, clearedAt });
    store.run('UPDATE outgoing SET body = ? WHERE id = ?', body, message.id);
    return body;
  }

  /** Gives waiting messages their due time, and lets those go whose time has come on Bursar's clock. */
  async function releaseDue(): Promise<void> {
    clockReadAtMs = Date.now();
    const nowMs = await bursar.businessNowMs();
    if (nowMs === undefined) return;
    store.inTransaction(() => {
      store.run(
        `UPDATE outgoing SET due_at_ms = ? + wait_ms WHERE state = 'queued' AND wait_ms IS NOT NULL AND due_at_ms IS NULL`,
        nowMs,
      );
      store.run(`UPDATE outgoing SET wait_ms = NULL WHERE state = 'queued' AND due_at_ms <= ?`, nowMs);
    });
  }

  const isAnyWaiting = (undated: '' | 'AND due_at_ms IS NULL' = ''): boolean =>
    store.one(`SELECT 1 AS found FROM outgoing WHERE state = 'queued' AND wait_ms IS NOT NULL ${undated} LIMIT 1`) !==
    undefined;

  async function sendReady(): Promise<void> {
    if (Date.now() - clockReadAtMs >= clockPollMs && isAnyWaiting()) await releaseDue();
    const ready = store.all<{ authorization_id: string }>(
      `SELECT authorization_id FROM outgoing WHERE ${readyNow} GROUP BY authorization_id ORDER BY min(seq) LIMIT ?`,
      Date.now(),
      sentPerRound,
    );
    await Promise.all(ready.map((row) => deliver(row.authorization_id)));
  }

  /** Sends this authorization's messages now, after whatever of it is already under way. Never rejects. */
  function deliver(authorizationId: string): Promise<void> {
    const earlier = lanes.get(authorizationId) ?? Promise.resolve();
    const lane = earlier
      .then(() => drain(authorizationId))
      .catch((error: unknown) => log.error({ authorizationId, err: error }, 'sending failed; the rows stay queued'))
      .finally(() => {
        if (lanes.get(authorizationId) === lane) lanes.delete(authorizationId);
      });
    lanes.set(authorizationId, lane);
    return lane;
  }

  function schedule(): void {
    timer = setTimeout(() => {
      round = sendReady()
        .catch((error: unknown) => log.error({ err: error }, 'a round of sending failed; the rows stay queued'))
        .finally(() => {
          if (!stopped) schedule();
        });
    }, pollMs);
  }

  return {
    /** To be called inside the transaction that decided it. `waitMs`: on Bursar's business clock. */
    enqueue(kind: MessageKind, authorizationId: string, fields: Record<string, unknown>, waitMs?: number): string {
      const id = newReference(prefixes[kind]);
      store.run(
        `INSERT INTO outgoing (id, kind, authorization_id, body, state, wait_ms) VALUES (?, ?, ?, ?, 'queued', ?)`,
        id,
        kind,
        authorizationId,
        JSON.stringify({ id, authorizationId, ...fields }),
        waitMs ?? null,
      );
      return id;
    },
    /** A full reversal before the clearing's day: the clearing is not sent any more. */
    withdrawWaiting: (authorizationId: string): number =>
      store.run(
        `UPDATE outgoing SET state = 'withdrawn' WHERE authorization_id = ? AND state = 'queued' AND wait_ms IS NOT NULL`,
        authorizationId,
      ),
    deliver,
    /** Sets the due time of messages that were just queued, before the clock is moved. */
    dateWaiting: async (): Promise<void> => {
      if (isAnyWaiting('AND due_at_ms IS NULL')) await releaseDue();
    },
    find: (id: string): MessageRow | undefined => store.one<MessageRow>('SELECT * FROM outgoing WHERE id = ?', id),
    ofAuthorization: (id: string): MessageRow[] =>
      store.all<MessageRow>('SELECT * FROM outgoing WHERE authorization_id = ? ORDER BY seq', id),
    latest: (state: MessageState | undefined, limit: number): MessageRow[] =>
      store.all<MessageRow>(
        'SELECT * FROM outgoing WHERE state = coalesce(?, state) ORDER BY seq DESC LIMIT ?',
        state ?? null,
        limit,
      ),
    start: schedule,
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await round;
      await Promise.all(lanes.values());
    },
  };
}
export type Outgoing = ReturnType<typeof createOutgoing>;

function stateAfter(status: number | undefined): MessageState {
  if (status === undefined || status >= 500 || status < 200) return 'queued';
  if (status < 300) return 'acknowledged';
  return status >= 400 && ![401, 408, 429].includes(status) ? 'refused' : 'queued';
}
