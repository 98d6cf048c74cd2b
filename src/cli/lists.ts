/** `bursar intents`, `bursar cards`, and what a person decides: `approve`, `deny`, `cards freeze`, `cards unfreeze`. @module */
import { Refusal } from './api.ts';
import type { Command } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { euros, plain, table } from './output.ts';
import type { Card, Intent, Page } from './records.ts';

export const listIntents: Command<{ readonly status?: string; readonly limit?: string }> = async (context, given) => {
  const query = new URLSearchParams({
    limit: given.limit ?? '20',
    ...(given.status === undefined ? {} : { status: given.status }),
  });
  const { data } = await context.api.call<Page<Intent>>('GET', `/intents?${query}`, { sample: { data: [] } });
  if (context.api.isPrinting) return exitCodes.done;
  const rows = data.map((intent) => [
    intent.id,
    intent.status,
    euros(intent.expectedAmountEuros),
    plain(intent.expectedMerchant ?? ''),
    plain(intent.purpose),
  ]);
  context.out.result(data, rows.length === 0 ? ['no intents'] : table(rows));
  return exitCodes.done;
};

export const listCards: Command<{ readonly limit?: string }> = async ({ api, out }, { limit = '20' }) => {
  const { data } = await api.call<Page<Card>>('GET', `/cards?limit=${encodeURIComponent(limit)}`, {
    sample: { data: [] },
  });
  if (api.isPrinting) return exitCodes.done;
  const rows = data.map((card) => [card.id, card.status, `•••• ${card.last4}`, card.agentId, plain(card.name)]);
  out.result(data, rows.length === 0 ? ['no cards'] : table(rows));
  return exitCodes.done;
};

export const changeCard: Command<{ readonly id: string; readonly verb: 'freeze' | 'unfreeze' }> = async (
  { api, out },
  { id, verb },
) => {
  const card = await api.call<{ status: string }>('POST', `/cards/${encodeURIComponent(id)}/${verb}`, { body: {} });
  if (!api.isPrinting) out.result(card, [`${id} is ${card.status}`]);
  return exitCodes.done;
};

const areas: Readonly<Record<string, string>> = { int: '/intents', crq: '/card-requests' };

export const decide: Command<{
  readonly id: string;
  readonly verb: 'approve' | 'deny';
  readonly reason?: string;
}> = async ({ api, out }, { id, verb, reason }) => {
  const area = areas[id.split('_')[0] ?? ''];
  if (area === undefined) throw new CommandError(exitCodes.usage, `${id} is neither an intent nor a card request`);
  const path = `${area}/${encodeURIComponent(id)}`;
  const body = reason === undefined ? {} : { reason };
  try {
    const answer = await api.call<{ status: string }>('POST', `${path}/${verb}`, { body });
    if (!api.isPrinting) out.result(answer, [`${id} is ${out.good(answer.status)}`]);
    return exitCodes.done;
  } catch (error) {
    const isPersons = error instanceof Refusal && /passkey|attest/i.test(error.message);
    if (!isPersons) throw error;
    const { approvalUrl } = await api.call<{ approvalUrl: string | null }>('GET', path);
    throw new CommandError(
      exitCodes.waits,
      `${error.message}; with a passkey at ${approvalUrl ?? 'the approver’s page'}`,
    );
  }
};
