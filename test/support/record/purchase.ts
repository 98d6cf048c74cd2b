/** A declared intent in a journey: its names, its payment and its state. @module */
import { randomUUID } from 'node:crypto';
import type { Id } from '../../../src/kernel/ids.ts';
import type { Actors, Declared } from './actors.ts';
import { type Stage, until } from './stage.ts';

export const intentRun = ({ intentId }: Declared): string => `intent/${intentId}`;
/** The workflow id holds the checkout's id, which no answer names. In a journey an agent has one checkout. */
export const checkoutRun = ({ runOf }: Stage, { agentId }: Declared): Promise<string> => runOf('checkout', agentId);
export const namesOf = ({ agentId, intentId }: Declared) => ({ agent: agentId, subject: intentId });
export const checkoutNames = (workflowId: string, { agentId, intentId }: Declared) => ({
  agent: agentId,
  subject: workflowId.replace('checkout/', ''),
  intent: intentId,
});
export const of = ({ intentId }: Declared): { params: { id: Id<'intent'> } } => ({ params: { id: intentId } });

export const shopUrl = ({ sandboxUrl }: Stage, shop: string, amountCents: number): string =>
  `${sandboxUrl}/shops/${shop}?amountCents=${amountCents}`;

export const execute = ({ checkout }: Actors, { intentId }: Declared, targetUrl: string) =>
  checkout.executeCheckout({ body: { intentId, targetUrl }, headers: { 'Idempotency-Key': randomUUID() } });

export const reaches = ({ intents }: Actors, declared: Declared, status: string) =>
  until(
    () => intents.getIntent(of(declared)),
    (intent) => intent.status === status,
    `the intent to be ${status}`,
  );
