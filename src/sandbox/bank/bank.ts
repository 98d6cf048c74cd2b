/**
 * The simulated bank. It takes a payment once, and later does what its reference asks for, on Bursar's business clock:
 * `FAIL` is rejected, `RETURN` comes back on the business day after it settled, and of `SILENT` nothing is ever said.
 * What happened it writes into files, which it sends until they are taken.
 * @module
 */
import type { pino } from 'pino';
import { batchDays, inBerlin, instantInBerlin } from '../../domains/treasury/sepa/banking-day.rules.ts';
import { businessDaysAfter } from '../../domains/treasury/sepa/target-calendar.rules.ts';
import { calendarDate } from '../../kernel/calendar-date.ts';
import { Refusal } from '../answer.ts';
import type { BursarApi } from '../network/bursar-api.ts';
import type { Store } from '../store.ts';
import { sha256 } from '../wire.ts';
import { type BookedEntry, notification, statusReport, type ToldStatus } from './bank-file.ts';
import { createFileQueue, newBankReference } from './bank-file-queue.ts';

export type PaymentOrder = {
  endToEndId: string;
  scheme: 'instant' | 'batch';
  amountCents: number;
  executionDate: string;
  payer: { iban: string };
  payee: { name: string; iban: string };
  remittance: string | null;
};
export type PaymentState = 'submitted' | 'accepted' | 'settled' | 'rejected' | 'returned' | 'recalled';
export type PaymentRow = {
  end_to_end_id: string;
  scheme: 'instant' | 'batch';
  amount_cents: number;
  execution_date: string;
  payer_iban: string;
  payee_name: string;
  payee_iban: string;
  remittance: string | null;
  recall_code: string | null;
  reason_code: string | null;
  state: PaymentState;
};
export type CreditOrder = {
  iban: string;
  amountCents: number;
  payerName: string;
  payerIban: string | null;
  reference: string | null;
  endToEndId: string | null;
};
type StepKind = Exclude<PaymentState, 'submitted'>;
type StepRow = {
  seq: number;
  end_to_end_id: string;
  kind: StepKind;
  due_at_ms: number | null;
  reason_code: string | null;
};
export type StatementRow = BookedEntry & { seq: number; file_id: string | null; is_taken: 0 | 1 | null };

export type BankOptions = {
  store: Store;
  bursar: BursarApi;
  log: pino.Logger;
  pollMs: number;
  clockPollMs: number;
};

/** The bank books in the morning. */
const bookingTime = '08:00';
const stepsInRound = 1_000;
const entriesInFile = 1_000;

export function createBank({ store, bursar, log, pollMs, clockPollMs }: BankOptions) {
  const files = createFileQueue({ store, bursar, log });
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let clockReadAtMs = 0;

  const find = (endToEndId: string): PaymentRow | undefined =>
    store.one<PaymentRow>('SELECT * FROM bank_payments WHERE end_to_end_id = ?', endToEndId);

  const plan = (endToEndId: string, kind: StepKind, dueAtMs: number | null, reasonCode: string | null = null) =>
    store.run(
      'INSERT INTO bank_steps (end_to_end_id, kind, due_at_ms, reason_code) VALUES (?, ?, ?, ?)',
      endToEndId,
      kind,
      dueAtMs,
      reasonCode,
    );

  /** The second payment with an end-to-end id is the first, and is counted. */
  function take(order: PaymentOrder): PaymentRow {
    return store.inTransaction(() => {
      const known = find(order.endToEndId);
      if (known !== undefined) {
        store.run('UPDATE bank_payments SET submissions = submissions + 1 WHERE end_to_end_id = ?', order.endToEndId);
        return known;
      }
      const { endToEndId, scheme, amountCents, executionDate, payer, payee, remittance } = order;
      const wish = wishIn(remittance);
      const isRefused = scheme === 'instant' && wish === 'FAIL';
      store.run(
        `INSERT INTO bank_payments (end_to_end_id, scheme, amount_cents, execution_date, payer_iban, payee_name,
           payee_iban, remittance, reason_code, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        endToEndId,
        scheme,
        amountCents,
        executionDate,
        payer.iban,
        payee.name,
        payee.iban,
        remittance,
        isRefused ? 'AC04' : null,
        isRefused ? 'rejected' : scheme === 'instant' ? 'accepted' : 'submitted',
      );
      if (wish === 'FAIL') plan(endToEndId, 'rejected', 0, 'AC04');
      else if (wish !== 'SILENT') {
        if (scheme === 'batch') plan(endToEndId, 'accepted', 0);
        plan(endToEndId, 'settled', scheme === 'instant' ? 0 : settlementMs(executionDate));
      }
      return find(endToEndId) as PaymentRow;
    });
  }

  /** The money comes back on the next business day, once it has left. */
  function recall(endToEndId: string, reasonCode: string): PaymentRow {
    return store.inTransaction(() => {
      const payment = find(endToEndId);
      if (payment === undefined) throw new Refusal(404, 'the bank does not know this payment');
      if (payment.recall_code !== null) return payment;
      if (!['submitted', 'accepted', 'settled'].includes(payment.state))
        throw new Refusal(409, `the payment is ${payment.state}: there is nothing to recall`);
      store.run('UPDATE bank_payments SET recall_code = ? WHERE end_to_end_id = ?', reasonCode, endToEndId);
      if (payment.state === 'settled') plan(endToEndId, 'recalled', null, 'FOCR');
      return find(endToEndId) as PaymentRow;
    });
  }

  type NewEntry = Omit<BookedEntry, 'reference' | 'booked_on'> & { creditKey?: string; booked_on: string | null };

  function book(entry: NewEntry): string {
    const reference = newBankReference('SBX');
    store.run(
      `INSERT INTO bank_entries (reference, credit_key, account_iban, direction, amount_cents, booked_on, end_to_end_id,
         return_reason_code, party_name, party_iban, remittance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      reference,
      entry.creditKey ?? null,
      entry.account_iban,
      entry.direction,
      entry.amount_cents,
      entry.booked_on,
      entry.end_to_end_id,
      entry.return_reason_code,
      entry.party_name,
      entry.party_iban,
      entry.remittance,
    );
    return reference;
  }

  /** Money from outside to one of Bursar's accounts. It is booked when Bursar's clock has been read. */
  function credit(order: CreditOrder, key: string | undefined): string {
    return store.inTransaction(() => {
      const known = key === undefined ? undefined : creditByKey(key);
      return (
        known?.reference ??
        book({
          ...(key === undefined ? {} : { creditKey: sha256(key) }),
          account_iban: order.iban,
          direction: 'credit',
          amount_cents: order.amountCents,
          booked_on: null,
          end_to_end_id: order.endToEndId,
          return_reason_code: null,
          party_name: order.payerName,
          party_iban: order.payerIban,
          remittance: order.reference,
        })
      );
    });
  }

  const creditByKey = (key: string) =>
    store.one<{ reference: string }>('SELECT reference FROM bank_entries WHERE credit_key = ?', sha256(key));

  /** What follows from a step is carried out only from the state that it needs. */
  function carryOut(step: StepRow, nowMs: number): ToldStatus | undefined {
    store.run('UPDATE bank_steps SET done = 1 WHERE seq = ?', step.seq);
    const payment = find(step.end_to_end_id);
    if (payment === undefined || !isPossible[step.kind].includes(payment.state)) return undefined;
    store.run(
      'UPDATE bank_payments SET state = ?, reason_code = coalesce(?, reason_code) WHERE end_to_end_id = ?',
      step.kind,
      step.reason_code,
      payment.end_to_end_id,
    );
    const told = { endToEndId: payment.end_to_end_id, amountCents: payment.amount_cents };
    if (step.kind === 'accepted') return { ...told, status: 'ACSP', reasonCode: null };
    if (step.kind === 'rejected') return { ...told, status: 'RJCT', reasonCode: step.reason_code };
    const at = step.due_at_ms === null || step.due_at_ms === 0 ? nowMs : step.due_at_ms;
    const isSettled = step.kind === 'settled';
    book({
      account_iban: payment.payer_iban,
      direction: isSettled ? 'debit' : 'credit',
      amount_cents: payment.amount_cents,
      booked_on: inBerlin(new Date(at)).date,
      end_to_end_id: payment.end_to_end_id,
      return_reason_code: isSettled ? null : step.reason_code,
      party_name: payment.payee_name,
      party_iban: payment.payee_iban,
      remittance: payment.remittance,
    });
    if (isSettled && wishIn(payment.remittance) === 'RETURN')
      plan(payment.end_to_end_id, 'returned', nextBookingMs(at), 'MD07');
    if (isSettled && payment.recall_code !== null) plan(payment.end_to_end_id, 'recalled', nextBookingMs(at), 'FOCR');
    return undefined;
  }

  /** Does everything that is due by now; a step may make a further one due. */
  function workUntil(nowMs: number): void {
    store.inTransaction(() => {
      store.run('UPDATE bank_steps SET due_at_ms = ? WHERE done = 0 AND due_at_ms IS NULL', nextBookingMs(nowMs));
      for (;;) {
        const due = store.all<StepRow>(
          'SELECT * FROM bank_steps WHERE done = 0 AND due_at_ms <= ? ORDER BY due_at_ms, seq LIMIT ?',
          nowMs,
          stepsInRound,
        );
        for (const step of due) {
          const told = carryOut(step, nowMs);
          if (told !== undefined) files.enqueue((id) => statusReport(id, new Date(nowMs), told));
        }
        if (due.length === 0) break;
      }
      store.run('UPDATE bank_entries SET booked_on = ? WHERE booked_on IS NULL', inBerlin(new Date(nowMs)).date);
      for (;;) {
        const entries = store.all<BookedEntry>(
          'SELECT * FROM bank_entries WHERE file_id IS NULL ORDER BY seq LIMIT ?',
          entriesInFile,
        );
        if (entries.length === 0) break;
        const fileId = files.enqueue((id) => notification(id, new Date(nowMs), entries));
        for (const { reference } of entries)
          store.run('UPDATE bank_entries SET file_id = ? WHERE reference = ?', fileId, reference);
      }
    });
  }

  /** Undefined: nothing can become due. */
  function workWaits(): 'now' | 'later' | undefined {
    const isUnsent = store.one('SELECT 1 FROM bank_entries WHERE file_id IS NULL LIMIT 1') !== undefined;
    if (isUnsent) return 'now';
    const step = store.one<{ is_now: 0 | 1 }>(
      `SELECT due_at_ms IS NULL OR due_at_ms = 0 AS is_now FROM bank_steps WHERE done = 0 ORDER BY is_now DESC LIMIT 1`,
    );
    if (step === undefined) return undefined;
    return step.is_now === 1 ? 'now' : 'later';
  }

  async function work(): Promise<void> {
    const waits = workWaits();
    if (waits === 'now' || (waits === 'later' && Date.now() - clockReadAtMs >= clockPollMs)) {
      clockReadAtMs = Date.now();
      const nowMs = await bursar.businessNowMs();
      if (nowMs !== undefined) workUntil(nowMs);
    }
    await files.sendReady(() => isStopped);
  }

  function schedule(): void {
    timer = setTimeout(() => {
      round = work()
        .catch((error: unknown) => log.error({ err: error }, 'a round of the bank failed; it is repeated'))
        .finally(() => {
          if (!isStopped) schedule();
        });
    }, pollMs);
  }

  return {
    take,
    find,
    recall,
    credit,
    isSilent: (payment: Pick<PaymentRow, 'remittance'>): boolean => wishIn(payment.remittance) === 'SILENT',
    accounts: () =>
      store.all<{ iban: string; entries: number; sum_cents: number }>(
        `SELECT account_iban AS iban, count(*) AS entries,
           sum(CASE direction WHEN 'credit' THEN amount_cents ELSE -amount_cents END) AS sum_cents
         FROM bank_entries GROUP BY account_iban ORDER BY account_iban LIMIT 500`,
      ),
    statement: (iban: string): StatementRow[] =>
      store.all<StatementRow>(
        `SELECT e.*, f.is_taken FROM bank_entries e LEFT JOIN bank_files f ON f.id = e.file_id
         WHERE e.account_iban = ? ORDER BY e.seq DESC LIMIT 500`,
        iban,
      ),
    waitingPayments: (iban: string): PaymentRow[] =>
      store.all<PaymentRow>(
        `SELECT * FROM bank_payments WHERE payer_iban = ? AND state IN ('submitted', 'accepted')
         ORDER BY rowid DESC LIMIT 500`,
        iban,
      ),
    files: files.latest,
    start: schedule,
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
export type Bank = ReturnType<typeof createBank>;

const isPossible: Readonly<Record<StepKind, readonly PaymentState[]>> = {
  accepted: ['submitted'],
  // A rejection that was answered at once is said in a file as well.
  rejected: ['submitted', 'accepted', 'rejected'],
  settled: ['submitted', 'accepted'],
  returned: ['settled'],
  recalled: ['settled'],
};

const wishIn = (remittance: string | null): string | undefined => /^(FAIL|RETURN|SILENT)/.exec(remittance ?? '')?.[1];

/** A batch payment settles on the business day after its execution. */
const settlementMs = (executionDate: string): number => {
  const { settlementDate } = batchDays(instantInBerlin(calendarDate(executionDate), '00:00'));
  return instantInBerlin(settlementDate, bookingTime).getTime();
};

const nextBookingMs = (atMs: number): number =>
  instantInBerlin(businessDaysAfter(inBerlin(new Date(atMs)).date, 1), bookingTime).getTime();
