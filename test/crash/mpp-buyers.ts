/**
 * Agents of one installation that pay at a merchant of the test by HTTP 402, each with its own card and money, and
 * the charges that the network was asked for. `wrong` names what must not be.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync } from 'node:sqlite';
import type { Installation } from '../support/installation.ts';
import { deliver, demand, type PayingMerchant, receiptFor } from '../support/paying-merchant.ts';
import { type Authorized, networkOf, type Payer, sandboxShop } from '../support/payments-world.ts';
import { type Answer, callBy } from '../support/plain-calls.ts';
import { eventually, type Owner } from '../support/world.ts';

export const cents = 1_250;
const tolerancePercent = 5;

export type Buyer = {
  readonly name: string;
  readonly cardId: string;
  readonly cardRef: string;
  readonly intentId: string;
  /** Asks to pay. The same key each time. */
  pay(): Promise<Answer>;
  payAnew(): Promise<Answer>;
};
/** What the merchant does with a credential. */
type Deal = {
  readonly charges?: boolean;
  /** It answers afterwards. */
  readonly until?: Promise<unknown>;
  /** How much later it is for the merchant. */
  readonly aheadMs?: number;
};
export type Payment = { id: string; status: string; started: string | null };

export async function openBuyers(site: Installation, merchant: PayingMerchant) {
  const owner: Owner = await site.owner();
  const call = callBy(owner.send);
  const network = networkOf({ apiUrl: site.apiUrl, networkKey: site.ready.networkKey });
  const approved: { transactionId: string; intentOf: string }[] = [];
  const made = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const answer = await call(method, path, body, randomUUID());
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  await made('POST', '/fund', { amountEuros: 5_000 });

  /** With its own policy and an approved intent; `name` is the path of what it buys. */
  async function aBuyer(name: string): Promise<Buyer> {
    const { id: agentId = '', cardId = '' } = await made('POST', '/agents', { name });
    const terms = { dailyLimitEuros: 1_000, monthlyLimitEuros: 1_000, requireIntent: true };
    await made('PATCH', `/policies/agent/${agentId}`, { ...terms, amountTolerancePercent: tolerancePercent });
    const purchase = { agentId, purpose: 'a report', expectedAmountEuros: cents / 100 };
    const { id: intentId = '', status } = await made('POST', '/intents', purchase);
    if (status !== 'approved') throw new Error(`the intent is ${status}`);
    const [card] = await site.sql<{ card_ref: string }>('select card_ref from cards where id = $1', [cardId]);
    const pay = (key: string) =>
      call('POST', '/v1/mpp/pay', { url: `${merchant.origin}/${name}`, intentId, cardId }, key);
    const key = randomUUID();
    const answers = { pay: () => pay(key), payAnew: () => pay(randomUUID()) };
    return { name, cardId, cardRef: card?.card_ref ?? '', intentId, ...answers };
  }

  /** The merchant charges the buyer at whose address the credential arrives, and delivers where it was paid. */
  const sellsTo = (those: readonly Buyer[], dealWith: (buyer: Buyer) => Deal = () => ({})): void =>
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      const buyer = those.find(({ name }) => response.req.url === `/${name}`) as Buyer;
      const { charges = true, until, aheadMs = 0 } = dealWith(buyer);
      const timestamp = new Date(Date.now() + aheadMs).toISOString();
      const isPaid = !charges || (await charge(buyer, paymentToken)).decision === 'approved';
      await until;
      // A receipt settles a payment, so who charges nothing gives none.
      if (isPaid) deliver(response, charges ? { receipt: receiptFor(challengeId, { timestamp }) } : {});
      else demand(response, [merchant.challenge()]);
    });

  /** The tokens that the card processor has minted for credentials of the buyer. */
  async function tokensOf({ intentId }: Buyer): Promise<string[]> {
    const credentials = await site.sql('select id from mpp_credentials where intent_id = $1', [intentId]);
    const sandbox = new DatabaseSync(join(site.dir, 'sandbox.sqlite'), { readOnly: true });
    const asked = sandbox.prepare('select token from tokens where mint_key = ?');
    const found = credentials.flatMap(({ id }) => asked.all(String(id)).map(({ token }) => String(token)));
    sandbox.close();
    return found;
  }

  /** The merchant charges the token of that buyer by the network. */
  async function charge({ cardRef, intentId }: Buyer, token: string, amountCents = cents): Promise<Authorized> {
    const asked = { cardRef } as Payer;
    const { body } = await network.authorize(asked, { token, amountCents, merchant: sandboxShop });
    if (body.decision === 'approved') approved.push({ transactionId: String(body.transactionId), intentOf: intentId });
    return body;
  }

  const paymentsOf = ({ intentId }: Buyer): Promise<Payment[]> =>
    site.sql<Payment>(
      `select p.id, p.status, r.started_epoch as started from mpp_payments p
       join workflow_runs r on r.id = 'mpp-payment/' || p.id where p.intent_id = $1 order by p.created_at`,
      [intentId],
    );

  const presentationsOf = ({ name }: Buyer): number =>
    merchant.requests.filter(({ url, headers }) => url === `/${name}` && headers.authorization !== undefined).length;

  /** What must never be, asked of the rows, of the merchant and of the owner's own list. */
  async function wrong(buyers: readonly Buyer[]): Promise<string[]> {
    const { body } = await call('GET', '/transactions?limit=100');
    const shown = new Set((body.data as { id: string }[]).map(({ id }) => id));
    const found = approved
      .filter(({ transactionId }) => !shown.has(transactionId))
      .map(({ transactionId }) => `the owner does not see ${transactionId}`);
    for (const buyer of buyers) {
      const charges = await site.sql<{ id: string; cents: number }>(
        `select id, greatest(amount_cents, approved_cents, cleared_cents)::int as cents from transactions
         where intent_id = $1 and status in ('pending', 'completed')`,
        [buyer.intentId],
      );
      if (charges.length > 1) found.push(`${buyer.name} is paid ${charges.length} times`);
      const most = cents + Math.floor((cents * tolerancePercent) / 100);
      if (charges.some((one) => one.cents > most)) found.push(`${buyer.name} is charged too much`);
      if (presentationsOf(buyer) > 1) found.push(`${buyer.name} presented ${presentationsOf(buyer)} credentials`);
    }
    return found;
  }

  return {
    owner,
    call,
    aBuyer,
    charge,
    sellsTo,
    tokensOf,
    paymentsOf,
    presentationsOf,
    wrong,
    /** All of its payments are in these states. */
    become: (buyer: Buyer, ...statuses: readonly string[]) =>
      eventually(
        () => paymentsOf(buyer),
        (found) => found.map(({ status }) => status).join() === statuses.join(),
        90_000,
      ),
    operatorResolves: async (paymentId: string, outcome: 'paid' | 'not-paid'): Promise<number> => {
      const headers = { 'X-Dashboard-Secret': site.ready.dashboardSecret, 'X-Owner-Id': owner.ownerId };
      const answer = await fetch(`${site.apiUrl}/v1/mpp/payments/${paymentId}/resolve`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcome }),
      });
      return answer.status;
    },
  };
}
export type Buyers = Awaited<ReturnType<typeof openBuyers>>;
