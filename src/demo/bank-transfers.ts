/** Three transfers to bank accounts: one settles, one comes back, one waits for a person after the payee check. @module */
import { inBerlin, instantInBerlin } from '../domains/treasury/sepa/banking-day.rules.ts';
import { businessDaysAfter } from '../domains/treasury/sepa/target-calendar.rules.ts';
import { type Actors, type Context, runLink } from './context.ts';
import { check, until } from './http.ts';
import { signal } from './purchases.ts';
import { euros } from './reporter.ts';

type Transfer = {
  readonly id: string;
  readonly status: string;
  readonly amountEuros: number;
  readonly payeeName: string;
  readonly toIbanMasked: string;
  readonly payeeCheck: string | null;
  readonly failureReason: string | null;
  readonly failureText: string | null;
  readonly decidedBy: string | null;
};
type Order = { readonly to: { readonly name: string; readonly iban: string }; readonly reference: string };

const settledEuros = 20;
const returnedEuros = 15;
const approvedEuros = 30;

export async function paidToBankAccounts(context: Context, actors: Actors): Promise<void> {
  await settled(context, actors);
  await approvedAfterNearMatch(context, actors);
  await returned(context, actors);
  const { ready, reporter } = context;
  const { iban } = await actors.owner<{ iban: string }>('GET', `/wallets/${actors.walletId}`);
  reporter.say(`the bank's statement of the account: ${ready.sandboxUrl}/bank/statements/${iban}`);
  const { balanced } = await actors.owner<{ balanced: boolean }>('GET', '/ledger/verify?full=true');
  check(balanced, 'the ledger balances');
}

async function settled(context: Context, actors: Actors): Promise<void> {
  const { id } = await order(context, actors, settledEuros, {
    to: { name: 'Office Supplies Ltd', iban: 'DE55999999980000004711' },
    reference: 'Invoice 2026-117',
  });
  const { payeeCheck } = await becomes(actors, id, 'completed');
  check(payeeCheck === 'match', 'the name belongs to the account');
  context.reporter.say("the payee's bank knows the name (match): sent once, and settled");
}

async function approvedAfterNearMatch(context: Context, actors: Actors): Promise<void> {
  const { id } = await order(context, actors, approvedEuros, {
    to: { name: 'Erika Muster CLOSE', iban: 'DE28999999980000004712' },
    reference: 'Fee for November',
  });
  const { payeeCheck } = await becomes(actors, id, 'pending_approval');
  check(payeeCheck === 'close_match', 'the bank knows a similar name');
  context.reporter.say("the payee's bank knows a similar name (close_match): waits for a person");
  await signal(context, `transfer/${id}`, { decision: 'approve', by: 'anna' });
  const { decidedBy } = await becomes(actors, id, 'completed');
  context.reporter.say(`approved, recorded as ${decidedBy}; then sent once, and settled`);
}

/** The sandbox's bank does so where the reference begins with RETURN. */
async function returned({ dashboard, ...context }: Context, actors: Actors): Promise<void> {
  const { reporter } = context;
  const { id } = await order({ dashboard, ...context }, actors, returnedEuros, {
    to: { name: 'Jane Doe', iban: 'DE98999999980000004713' },
    reference: 'RETURN of a deposit',
  });
  await becomes(actors, id, 'completed');
  const { now } = await dashboard<{ now: string }>('GET', '/sandbox/clock');
  const booking = instantInBerlin(businessDaysAfter(inBerlin(new Date(now)).date, 1), '08:01');
  await dashboard('POST', '/sandbox/clock/advance', { ms: booking.getTime() - Date.parse(now) });
  reporter.say(`settled; the clock is moved to the morning of the next business day, ${booking.toISOString()}`);
  const { failureReason, failureText } = await becomes(actors, id, 'returned');
  check(failureReason === 'returned:MD07', 'the return has its reason');
  reporter.say(`came back (${failureText}), and ${euros(returnedEuros)} are available again`);
}

async function order(context: Context, { owner }: Actors, amountEuros: number, more: Order): Promise<Transfer> {
  const made = await owner<Transfer>('POST', '/transfers', { amountEuros, ...more });
  const { reporter } = context;
  reporter.say(`transfer ${made.id}: ${euros(made.amountEuros)} to ${made.payeeName}, account ${made.toIbanMasked}`);
  reporter.say(runLink(context, `transfer/${made.id}`));
  return made;
}

const becomes = ({ owner }: Actors, id: string, status: string): Promise<Transfer> =>
  until(
    () => owner<Transfer>('GET', `/transfers/${id}`),
    (transfer) => transfer.status === status,
    `the transfer ${id} to be ${status}`,
  );
