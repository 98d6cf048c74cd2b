/** `bursar init`: makes an agent with a policy and a token, and keeps the token in a file that only its user may read. @module */
import type { Command, Context } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { euros } from './output.ts';
import type { Agent } from './records.ts';
import { keep } from './settings.ts';

type Given = {
  readonly name?: string;
  readonly preset?: string;
  readonly budget?: string;
  readonly newOwner?: boolean;
};

export const init: Command<Given> = async (context, given) => {
  const { settings, out } = context;
  const name = given.name ?? (await context.ask?.('Name of the agent', 'Shopping agent')) ?? 'Shopping agent';
  const preset =
    given.preset ?? (await context.ask?.('Policy preset (strict, balanced, open)', 'balanced')) ?? 'balanced';
  const budget = amountOf(given.budget ?? (await context.ask?.('Euros for the wallet (0: none)', '0')) ?? '0');
  // A secret is answered once, so where it is kept must be writable before.
  if (!context.api.isPrinting) await keep(settings, {});
  const owner = given.newOwner === true ? await newOwner(context) : undefined;
  const { api } = owner ?? context;
  const agent = await api.call<Agent>('POST', '/agents', { body: { name }, sample: { id: 'AGENT_ID', cardId: null } });
  await api.call('POST', `/policies/agent/${agent.id}/apply`, { body: { presetId: preset } });
  const { token } = await api.call<{ token: string }>('POST', `/agents/${agent.id}/tokens`, {
    body: { label: 'bursar command' },
    sample: { token: '' },
  });
  if (!api.isPrinting) {
    await keep(settings, { agentId: agent.id, agentToken: token }, { isCurrent: true });
  }
  const funded =
    budget === 0
      ? undefined
      : await api.call<{ balanceEuros?: number; status?: string }>('POST', '/fund', { body: { amountEuros: budget } });
  if (api.isPrinting) return exitCodes.done;
  const answer = { agentId: agent.id, cardId: agent.cardId, preset, token, file: settings.file };
  out.result({ ...answer, ...(owner === undefined ? {} : { ownerId: owner.ownerId }) }, [
    `agent ${out.bold(agent.id)} with card ${agent.cardId}, by the rules of the preset ${preset}`,
    ...(funded === undefined ? [] : [`wallet: ${euros(funded.balanceEuros) || (funded.status ?? '')}`]),
    `token  ${token}`,
    out.dim(`the token is shown this once, and kept in ${settings.file} (mode 600)`),
    'next   bursar pay <url> --amount 10',
  ]);
  return exitCodes.done;
};

function amountOf(text: string): number {
  const amount = Number(text);
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new CommandError(exitCodes.usage, `${text} is no amount in euros`);
}

/** With the dashboard secret of this machine's installation, or of the environment. */
async function newOwner({ settings, env, api }: Context) {
  if (settings.kept.ownerKey !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      `${settings.file} keeps the only copy of another owner's key: name another file by BURSAR_CLI_FILE`,
    );
  }
  const secret = env.BURSAR_DASHBOARD_SECRET?.split(',')[0] ?? settings.ready?.dashboardSecret;
  if (secret === undefined) {
    throw new CommandError(exitCodes.usage, 'a new owner needs BURSAR_DASHBOARD_SECRET, or Bursar on this machine');
  }
  const made = await api.asDashboard<{ key: string; ownerId: string }>(secret, '/keys/create', {
    label: 'bursar command',
  });
  // At once, because the next call may fail.
  if (!api.isPrinting) await keep(settings, { ownerKey: made.key, agentId: undefined, agentToken: undefined });
  return { ...made, api: api.withOwner(made.key) };
}
