/**
 * A shop charges the card of the agent, and no intent was declared: the charge is declined and explained, the owner lets
 * it pass once, and the next attempt of the shop passes. A third one does not.
 * @module
 */
import type { Actors, Context, Intent } from './context.ts';
import { check, until } from './http.ts';
import { euros } from './reporter.ts';

const amountEuros = 5;

type Charged = { readonly decision: string; readonly rule: string; readonly transactionId: string };
type Explained = { readonly inWords: string; readonly mayAllowOnce: boolean };
type Allowed = Intent & { readonly expiresAt: string };

export async function allowedOnce({ reporter, sandbox }: Context, { owner, cardId }: Actors): Promise<void> {
  const charge = () =>
    sandbox<Charged>('POST', '/network/purchases', {
      cardId,
      amountCents: amountEuros * 100,
      merchant: 'sandbox-casino',
    });
  const first = await charge();
  check(first.decision === 'declined', `a blocked merchant is declined, not ${first.decision}`);
  reporter.say(`Sandbox Casino charges the card with ${euros(amountEuros)}: transaction ${first.transactionId}`);
  const explained = await owner<Explained>('GET', `/transactions/${first.transactionId}/decision`);
  reporter.say(explained.inWords);
  check(explained.mayAllowOnce, 'the owner may allow the charge once');
  const allowed = await owner<Allowed>('POST', `/transactions/${first.transactionId}/allow-once`);
  reporter.say(
    `the owner allows it once: intent ${allowed.id}, for this card, merchant and amount, until ${allowed.expiresAt}`,
  );
  const second = await charge();
  check(second.rule === 'allowed_once', `the next attempt passes by the permission, not by ${second.rule}`);
  reporter.say(
    `the shop tries again: ${second.decision} by the rule ${second.rule}, transaction ${second.transactionId}`,
  );
  const third = await charge();
  check(third.decision === 'declined', 'the permission is for one charge');
  reporter.say(`and once more: ${third.decision} by the rule ${third.rule}`);
  await until(
    () => owner<Intent>('GET', `/intents/${allowed.id}`),
    ({ status, transactionId }) => status === 'completed' && transactionId === second.transactionId,
    'the charge to be cleared',
  );
  reporter.say('cleared: the permission is used up');
}
