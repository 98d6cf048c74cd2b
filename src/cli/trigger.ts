/** `bursar trigger`: makes an event happen in a sandbox, by the operations that cause it, and waits until the feed has it. @module */
import { setTimeout as wait } from 'node:timers/promises';
import type { Command, Context } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import type { Agent, Card, Feed, Intent, Page } from './records.ts';

type Cause = (context: Context, agent: Agent) => Promise<unknown>;

const declare = ({ api }: Context, agentId: string, expectedAmountEuros: number): Promise<Intent> =>
  api.call<Intent>('POST', '/intents', {
    body: { agentId, purpose: 'bursar trigger', expectedAmountEuros, expectedMerchant: 'Sandbox Shop' },
  });

const buy: Cause = async (context, { id }) => {
  const sandboxUrl = context.env.BURSAR_SANDBOX_URL ?? context.settings.ready?.sandboxUrl;
  if (sandboxUrl == null)
    throw new CommandError(exitCodes.usage, 'a purchase needs the sandbox of a Bursar on this machine');
  const { id: intentId } = await declare(context, id, 1);
  const targetUrl = `${sandboxUrl}/shops/sandbox-shop?amountCents=100`;
  return context.api.call('POST', '/checkout/execute', { body: { intentId, targetUrl } });
};
const approve: Cause = (context, { id }) => declare(context, id, 1);
const cancel: Cause = async (context, { id }) => {
  const intent = await declare(context, id, 1);
  return context.api.call('POST', `/intents/${intent.id}/cancel`);
};
const fund: Cause = ({ api }) => api.call('POST', '/fund', { body: { amountEuros: 1 } });
/** The card is active again afterwards. */
const freeze: Cause = async ({ api }, { id }) => {
  const { data } = await api.call<Page<Card>>('GET', `/cards?agentId=${id}&status=active&limit=1`);
  const [card] = data;
  if (card === undefined) throw new CommandError(exitCodes.usage, `agent ${id} has no active card`);
  await api.call('POST', `/cards/${card.id}/freeze`, { body: {} });
  return api.call('POST', `/cards/${card.id}/unfreeze`, { body: {} });
};

const causes: Readonly<Record<string, Cause>> = {
  'intent.created': approve,
  'intent.approved': approve,
  'intent.cancelled': cancel,
  'intent.matched': buy,
  'intent.completed': buy,
  'transaction.created': buy,
  'transaction.authorization': buy,
  'transaction.settled': buy,
  'transaction.completed': buy,
  'wallet.funded': fund,
  'wallet.credited': fund,
  'card.frozen': freeze,
  'card.unfrozen': freeze,
};

export const triggered = Object.keys(causes);

const timeoutMs = 60_000;

export const trigger: Command<{ readonly event: string }> = async (context, { event }) => {
  const { api, out, settings } = context;
  const cause = causes[event];
  if (cause === undefined) {
    throw new CommandError(exitCodes.usage, `${event} cannot be triggered; these can: ${triggered.join(', ')}`);
  }
  if (api.isPrinting)
    throw new CommandError(exitCodes.usage, 'trigger makes several calls: --curl prints none of them');
  const { position } = await api.call<Feed>('GET', '/events?after=now');
  await cause(context, await agentOf(context, settings.kept.agentId));
  const until = Date.now() + timeoutMs;
  for (let after = position; Date.now() < until && !context.ended.aborted; ) {
    const feed = await api.call<Feed>('GET', `/events?after=${after}`);
    const found = feed.data.find((one) => one.event === event);
    if (found !== undefined) {
      out.result(found, [`${event}  ${found.id}  of ${found.subjectId}`]);
      return exitCodes.done;
    }
    after = feed.position;
    if (!feed.hasMore) await wait(1_000, undefined, { signal: context.ended }).catch(() => undefined);
  }
  if (context.ended.aborted) return exitCodes.refused;
  throw new CommandError(exitCodes.refused, `${event} did not happen within ${timeoutMs / 1_000} s`);
};

async function agentOf({ api }: Context, id: string | undefined): Promise<Agent> {
  if (id !== undefined) return api.call<Agent>('GET', `/agents/${id}`);
  const { data } = await api.call<Page<Agent>>('GET', '/agents?status=active&limit=1');
  const [agent] = data;
  if (agent === undefined) throw new CommandError(exitCodes.usage, 'there is no active agent: run bursar init');
  return agent;
}
