/**
 * The commands of the model's owner and agents as calls of the API: the agent declares with its token, everything else
 * is the owner's. Only the agents themselves are arranged in the tables.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type Client, createClient } from '../../src/client/client.ts';
import { cardsArea } from '../../src/domains/cards/cards/card.contract.ts';
import { agentsArea } from '../../src/domains/parties/agents/agent.contract.ts';
import { transactionsArea } from '../../src/domains/payments/transactions/transaction.contract.ts';
import { intentsArea } from '../../src/domains/spending/intents/intent.contract.ts';
import type { Area } from '../../src/http/route.ts';
import { minute } from '../../src/kernel/instant.ts';
import { aCustomer } from './factories/parties.ts';
import type { Command } from './payment-commands.ts';
import type { Terms } from './payment-decisions.ts';
import { type Declaration, type ModelIntent, modelFundsCents } from './payment-shapes.ts';
import { rhythms } from './payment-windows.ts';
import { aPayer, type Payer, sandboxShop } from './payments-world.ts';
import type { Owner, World } from './world.ts';

export type CalledCard = { readonly id: `ca_${string}`; readonly cardRef: string };
export type Called = {
  readonly status: number;
  /** The intent that was made. */
  readonly made?: { readonly id: string; readonly expiresAt: string };
  readonly message?: string;
};
export type Commander = {
  readonly owner: Owner;
  readonly walletId: string;
  readonly agentIds: readonly string[];
  /** In the order of the model's. */
  readonly cards: readonly CalledCard[];
  readonly carryOut: (command: Command) => Promise<Called>;
};

const columns: Readonly<Record<keyof Terms, string>> = {
  maxTransactionCents: 'max_transaction_cents',
  dailyLimitCents: 'daily_limit_cents',
  monthlyLimitCents: 'monthly_limit_cents',
  autoApproveLimitCents: 'auto_approve_limit_cents',
  requireIntent: 'require_intent',
  amountTolerancePercent: 'amount_tolerance_percent',
};

/** Agents of one owner, all drawing on the wallet of the first. */
async function payersOf(world: World, terms: readonly Terms[]): Promise<Payer[]> {
  const owner = await world.owner();
  await aCustomer(world, owner.ownerId);
  const payers: Payer[] = [];
  for (const one of terms) {
    const policy = Object.fromEntries(
      Object.entries(one).map(([name, value]) => [columns[name as keyof Terms], value]),
    );
    payers.push(await aPayer(world, { owner, fundsCents: payers.length === 0 ? modelFundsCents : 0, policy }));
  }
  const agentIds = payers.map(({ agentId }) => agentId);
  await world.sql('update agents set wallet_id = $2 where id = any($1)', [agentIds, payers[0]?.walletId]);
  return payers;
}

export async function commanderOf(world: World, terms: readonly Terms[]): Promise<Commander> {
  const payers = await payersOf(world, terms);
  const [{ owner, walletId }] = payers as [Payer];
  const cards: CalledCard[] = payers.map(({ cardId, cardRef }) => ({ id: cardId, cardRef }));
  // One call at a time; a client answers with the body alone.
  let lastStatus = 0;
  const calls = <A extends Area>(area: A, { send }: Pick<Owner, 'send'> = owner): Client<A> =>
    createClient(area, async (request) => {
      const answer = await send(request);
      lastStatus = answer.status;
      return answer;
    });
  const [cardCalls, agentCalls] = [calls(cardsArea), calls(agentsArea)];
  const [intentCalls, transactionCalls] = [calls(intentsArea), calls(transactionsArea)];
  const asAgent = payers.map(({ token }) => calls(intentsArea, world.as(token)));
  const ofCard = (card: number) => ({ params: { cardId: cards[card]?.id ?? ('ca_' as const) }, body: {} });
  const ofAgent = (agent: number) => ({ params: { id: payers[agent]?.agentId ?? ('ag_' as const) }, body: {} });
  const ofIntent = ({ id }: ModelIntent) => ({ params: { id: id as `int_${string}` }, body: {} });
  const headers = () => ({ headers: { 'Idempotency-Key': randomUUID() } });

  const noteCard = ({ id, cardRef = '' }: { id: string; cardRef?: string | undefined }): void => {
    cards.push({ id: id as CalledCard['id'], cardRef });
  };
  const declare = ({ agent, card, amountCents, isNamed, ttlMs, recurring }: Declaration) =>
    asAgent[agent]?.declareIntent({
      body: {
        ...{ purpose: 'a book', expectedAmountEuros: amountCents / 100, ttlMinutes: ttlMs / minute },
        ...(card === null ? {} : { cardId: cards[card]?.id }),
        ...(isNamed ? { expectedMerchant: sandboxShop.name } : {}),
        ...(recurring === null ? {} : { recurring: recurringOf(recurring) }),
      },
    });
  const recurringOf = ({ rhythm, tolerancePercent }: NonNullable<Declaration['recurring']>) => ({
    cadence: rhythm,
    windowStartDaysBefore: rhythms[rhythm].daysBefore,
    windowEndDaysAfter: rhythms[rhythm].daysAfter,
    amountTolerancePercent: tolerancePercent,
  });
  async function idOfTransaction(authorizationId: string): Promise<`tx_${string}`> {
    const [row] = await world.sql<{ id: `tx_${string}` }>('select id from transactions where authorization_id = $1', [
      authorizationId,
    ]);
    return row?.id ?? 'tx_';
  }

  /** The answer of a call that makes an intent. */
  async function call(command: Command): Promise<unknown> {
    switch (command.do) {
      case 'declare':
        return declare(command.declaration);
      case 'allowOnce':
        return transactionCalls.allowTransactionOnce({
          params: { id: await idOfTransaction(command.payment.authorizationId) },
          body: {},
        });
      case 'approve':
        return void (await intentCalls.approveIntent({ ...ofIntent(command.intent), ...headers() }));
      case 'deny':
        return void (await intentCalls.denyIntent(ofIntent(command.intent)));
      case 'cancel':
        return void (await intentCalls.cancelIntent(ofIntent(command.intent)));
      case 'freezeAgent':
        return void (await agentCalls.freezeAgent(ofAgent(command.agent)));
      case 'unfreezeAgent':
        return void (await agentCalls.unfreezeAgent({ params: ofAgent(command.agent).params }));
      case 'freezeCard':
        return void (await cardCalls.freezeCard(ofCard(command.card)));
      case 'unfreezeCard':
        return void (await cardCalls.unfreezeCard(ofCard(command.card)));
      case 'closeCard':
        return void (await cardCalls.closeCard(ofCard(command.card)));
      case 'rotateCard':
        return noteCard((await cardCalls.rotateCard({ ...ofCard(command.card), ...headers() })).card);
      default: {
        const params = { agentId: payers[command.agent]?.agentId ?? ('ag_' as const) };
        const body = { usage: command.usage, purpose: 'payments' };
        return noteCard(await cardCalls.issueAgentCard({ params, body, ...headers() }));
      }
    }
  }
  return {
    ...{ owner, walletId, cards, agentIds: payers.map(({ agentId }) => agentId) },
    async carryOut(command) {
      try {
        const answer = (await call(command)) as Called['made'];
        return { status: lastStatus, ...(answer === undefined ? {} : { made: answer }) };
      } catch (error) {
        const { status, message } = error as { status?: number; message?: string };
        if (status === undefined) throw error;
        return { status, message: message ?? '' };
      }
    },
  };
}

/** Of the request to a person that the product made about that declined charge. */
export async function idOfRequest({ sql }: World, { asksAbout }: ModelIntent): Promise<string> {
  const [row] = await sql<{ id: string }>(
    `select i.id from intents i join transactions t on t.id = i.declined_charge ->> 'transactionId'
     where t.authorization_id = $1 and i.allows_once_of is null order by i.created_at desc limit 1`,
    [asksAbout],
  );
  return row?.id ?? 'none';
}
