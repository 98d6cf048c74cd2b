/** Pays a merchant that answers 402, and refuses one that asks for more in its second challenge. @module */
import { type Actors, type Context, type Intent, runLink } from './context.ts';
import { check, until } from './http.ts';
import { declare } from './purchases.ts';
import { euros } from './reporter.ts';

type Paid = {
  readonly payment_id: string;
  readonly status: string;
  readonly merchant_status: number;
  readonly receipt: string;
  readonly merchant_body: Readonly<Record<string, unknown>>;
  readonly transaction_id: string | null;
};

const priceEuros = 4.99;

export async function paidByMachine(context: Context, actors: Actors): Promise<void> {
  const { reporter } = context;
  const intent = await report(context, actors);
  const paid = await payAt(context, actors, intent, 'sandbox-api');
  check(paid.status === 'paid' && paid.merchant_status === 200, `the merchant is paid, not ${paid.status}`);
  reporter.say(`paid ${euros(priceEuros)} with one credential: transaction ${paid.transaction_id}`);
  reporter.say(runLink(context, `mpp-payment/${paid.payment_id}`));
  reporter.say(`the merchant's receipt: ${receiptInWords(paid.receipt)}`);
  reporter.say(`the merchant's answer: ${JSON.stringify(paid.merchant_body)}`);
  await until(
    () => actors.owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'completed',
    'the intent to be completed',
  );

  const other = await report(context, actors);
  const raised = await payAt(context, actors, other, 'sandbox-raises');
  check(raised.status === 'declined' && raised.transaction_id === null, 'a second challenge is not paid');
  const { status } = await actors.owner<Intent>('GET', `/intents/${other.id}`);
  check(status === 'approved', `the intent is still approved, not ${status}`);
  reporter.say(
    'another merchant took the credential and asked for double in a second challenge: not answered, nothing was spent, and its intent is still approved',
  );
  await actors.owner('POST', `/intents/${other.id}/cancel`);
}

const report = (context: Context, actors: Actors): Promise<Intent> =>
  declare(context, actors, { purpose: 'a report', expectedAmountEuros: priceEuros });

const payAt = ({ ready }: Context, { agent, cardId }: Actors, { id }: Intent, merchant: string): Promise<Paid> =>
  agent<Paid>('POST', '/v1/mpp/pay', {
    url: `${ready.sandboxUrl}/paid/${merchant}?amountCents=${Math.round(priceEuros * 100)}`,
    intentId: id,
    cardId,
  });

function receiptInWords(receipt: string): string {
  const { method, reference, status } = JSON.parse(Buffer.from(receipt, 'base64url').toString()) as Record<
    string,
    string
  >;
  return `${status}, ${method}, reference ${reference}`;
}
