/**
 * The end of the demo: an agent of the installation's own owner has declared a purchase that waits for a person, and
 * the demo prints how to decide it, how to pay, and how a model gets the agent's tools. No secret is printed: the
 * agent's token is kept where the `bursar` command reads it.
 * @module
 */
import type { Context, Intent } from './context.ts';
import { bearer, callerOf, check } from './http.ts';
import { euros } from './reporter.ts';

/** Keeps the token of an agent for later commands. */
export type KeepToken = (apiUrl: string, made: { agentId: string; agentToken: string }) => Promise<void>;
type Kept = {
  readonly agentId?: string | undefined;
  readonly agentToken?: string | undefined;
  readonly ownerKey?: string | undefined;
  readonly file: string;
};
/** What the `bursar` command keeps for this service. */
export type KeptAgent = (apiUrl: string) => Promise<Kept>;

type Agents = { readonly data: readonly { readonly id: string; readonly name: string | null }[] };

const priceEuros = 75;
const agentName = 'Your agent';

export async function leaveYourTurn(
  { ready, reporter }: Context,
  { keep, kept, project }: { readonly keep: KeepToken; readonly kept: KeptAgent; readonly project: string },
): Promise<void> {
  const own = await kept(ready.apiUrl);
  const owner = callerOf(ready.apiUrl, bearer(own.ownerKey ?? ready.apiKey));
  const { data } = await owner<Agents>('GET', '/agents?status=active&limit=100');
  const known = data.find(({ id }) => id === own.agentId)?.id;
  const ofEarlier = data.find(({ name }) => name === agentName)?.id;
  const agentId = known ?? (own.agentToken === undefined ? undefined : ofEarlier) ?? (await newAgent());
  // A token is answered once: what the user keeps is never replaced.
  const mayPay = known !== undefined || own.agentToken === undefined;
  // What an earlier demo left waiting is the one that waits.
  const waiting = await owner<{ readonly data: readonly Intent[] }>(
    'GET',
    `/intents?status=pending_approval&agentId=${agentId}&limit=1`,
  );
  const intent =
    waiting.data[0] ??
    (await owner<Intent>('POST', '/intents', {
      agentId,
      purpose: 'a keyboard for you to decide about',
      expectedAmountEuros: priceEuros,
      expectedMerchant: 'Sandbox Shop',
    }));
  check(intent.status === 'pending_approval', `the last intent waits for you, and is not ${intent.status}`);
  reporter.say(`intent ${intent.id}: your agent asks to pay ${euros(intent.expectedAmountEuros)}, and waits for you`);
  reporter.say(`decide on the page: ${intent.approvalUrl}`);
  reporter.say('or by a command:');
  reporter.print(`npm run bursar -- approve ${intent.id}`);
  if (mayPay) {
    reporter.say('then the agent pays:');
    const shop = `${ready.sandboxUrl}/shops/sandbox-shop?amountCents=${Math.round(intent.expectedAmountEuros * 100)}`;
    reporter.print(`npm run bursar -- pay '${shop}' --intent ${intent.id}`);
  } else {
    reporter.say(`${own.file} keeps the token of ${own.agentId ?? 'another agent'}, which the demo does not replace:`);
    reporter.say('npm run bursar -- init makes an agent that pays');
  }
  reporter.say('and you see what happened:');
  reporter.print(`npm run bursar -- trace ${intent.id}`);
  reporter.say('a model gets the tools of this agent by MCP; paste this into its client (docs/mcp.md has others):');
  const server = { command: 'npm', args: ['run', '--silent', '--prefix', project, 'bursar', '--', 'mcp'] };
  for (const line of JSON.stringify({ mcpServers: { bursar: server } }, undefined, 2).split('\n')) reporter.print(line);

  async function newAgent(): Promise<string> {
    const { id } = await owner<{ id: string }>('POST', '/agents', { name: agentName });
    await owner('POST', '/fund', { amountEuros: 2 * priceEuros });
    if (own.agentToken !== undefined) return id;
    const { token } = await owner<{ token: string }>('POST', `/agents/${id}/tokens`, { label: 'bursar command' });
    await keep(ready.apiUrl, { agentId: id, agentToken: token });
    return id;
  }
}
