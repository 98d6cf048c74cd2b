/** The demo in twelve steps: real purchases and transfers over HTTP, each reported on the terminal while it happens. @module */
import { randomBytes } from 'node:crypto';
import type { Ready } from '../supervisor/ready-file.ts';
import { setUp } from './actors.ts';
import { allowedOnce } from './allowed-once.ts';
import { paidToBankAccounts } from './bank-transfers.ts';
import type { Context } from './context.ts';
import { callerOf } from './http.ts';
import { paidByMachine } from './machine-payments.ts';
import { approvedByPerson, approvedByPolicy, approvedBySignal, expired, refusedByRule } from './purchases.ts';
import { createReporter } from './reporter.ts';
import { dividedAmongWallets } from './transfers.ts';
import { refuseFirstDelivery, showBalances, verifyDeliveries } from './verify-deliveries.ts';
import { type KeepToken, type KeptAgent, leaveYourTurn } from './your-turn.ts';

const steps = 12;

/** How the last part keeps a token for the user; `project` is the folder of this clone. */
export type ForTheUser = { readonly keep: KeepToken; readonly kept: KeptAgent; readonly project: string };

/** Throws at the first fact that does not hold. */
export async function runScenario(ready: Ready, write: (line: string) => void, user?: ForTheUser): Promise<void> {
  if (ready.sandboxUrl === null) throw new Error('the demo needs a sandbox deployment (BURSAR_MODE=sandbox)');
  const context: Context = {
    ready,
    reporter: createReporter(write, steps),
    dashboard: callerOf(ready.apiUrl, { 'X-Dashboard-Secret': ready.dashboardSecret }),
    sandbox: callerOf(ready.sandboxUrl),
    box: `demo-${randomBytes(6).toString('hex')}`,
  };
  const { step } = context.reporter;
  await refuseFirstDelivery(context);
  step('Create an owner, an agent with a card and rules, money and a webhook');
  const actors = await setUp(context);
  step('A small purchase: the policy approves it at once');
  await approvedByPolicy(context, actors);
  step('A larger purchase: a person approves it');
  await approvedByPerson(context, actors);
  step('Another purchase: a person approves it by a Temporal signal');
  await approvedBySignal(context, actors);
  step('A blocked merchant: the policy refuses it');
  await refusedByRule(context, actors);
  step('A declined charge: the owner sees why, and allows it once');
  await allowedOnce(context, actors);
  step('A machine payment: a merchant answers 402, and is paid by a credential');
  await paidByMachine(context, actors);
  step('A split: money moves to three other wallets of the owner');
  await dividedAmongWallets(context, actors);
  step('Bank transfers: one settles, a person approves one, and one comes back');
  await paidToBankAccounts(context, actors);
  step('No answer: the intent expires');
  await expired(context, actors);
  step('Webhook deliveries');
  await verifyDeliveries(context, actors);
  step('Balances, and where to look next');
  await showBalances(context, actors);
  if (user !== undefined) {
    context.reporter.section('Your turn');
    await leaveYourTurn(context, user);
  }
  write(`\ndemo done: ${steps} of ${steps} steps`);
}
