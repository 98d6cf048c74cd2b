/**
 * Pays a merchant that answers 402, with signed requests that are verified here as a merchant would; and refuses one that
 * asks for more in its second challenge.
 * @module
 */
import { createPublicKey, verify } from 'node:crypto';
import { type Actors, type Context, type Intent, runLink } from './context.ts';
import { check, until } from './http.ts';
import { declare } from './purchases.ts';
import { euros } from './reporter.ts';

type Paid = {
  readonly payment_id: string;
  readonly status: string;
  readonly merchant_status: number;
  readonly receipt: string;
  readonly merchant_body: Readonly<Record<string, unknown>> & { readonly signed?: Signed };
  readonly transaction_id: string | null;
};

/** The headers of the paid request, as the merchant received them. */
type Signed = { readonly signatureInput: string; readonly signature: string };
type KeySet = { readonly keys: readonly { readonly kid: string; readonly kty: string; readonly x: string }[] };

const priceEuros = 4.99;

export async function paidByMachine(context: Context, actors: Actors): Promise<void> {
  const { reporter } = context;
  await actors.owner('PATCH', `/agents/${actors.agentId}`, { requestSignatures: 'trusted_agent' });
  const intent = await report(context, actors);
  const paid = await payAt(context, actors, intent, 'sandbox-api');
  check(paid.status === 'paid' && paid.merchant_status === 200, `the merchant is paid, not ${paid.status}`);
  reporter.say(`paid ${euros(priceEuros)} with one credential: transaction ${paid.transaction_id}`);
  reporter.say(runLink(context, `mpp-payment/${paid.payment_id}`));
  reporter.say(`the merchant's receipt: ${receiptInWords(paid.receipt)}`);
  const { signed, ...body } = paid.merchant_body;
  reporter.say(`the merchant's answer: ${JSON.stringify(body)}`);
  reporter.say(await signatureInWords(context, actors, signed));
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

/** As docs/signed-requests.md tells merchants: the signature covers host and path, and the key is the agent's. */
async function signatureInWords({ ready }: Context, { agentId }: Actors, signed: Signed | undefined): Promise<string> {
  const [, parameters = ''] = /(?:^|, )sig2=(\([^)]*\);[^,]*)/.exec(signed?.signatureInput ?? '') ?? [];
  const [, signature = ''] = /(?:^|, )sig2=:([^:]*):/.exec(signed?.signature ?? '') ?? [];
  const [, keyId = ''] = /keyid="([^"]*)"/.exec(parameters) ?? [];
  const { host } = new URL(ready.sandboxUrl ?? '');
  const base = `"@authority": ${host}\n"@path": /paid/sandbox-api\n"@signature-params": ${parameters}`;
  const answer = await fetch(`${ready.apiUrl}/.well-known/agents/${agentId}/jwks.json`);
  const jwk = ((await answer.json()) as KeySet).keys.find(({ kid }) => kid === keyId);
  check(jwk !== undefined, 'the key of the signature is published');
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  check(verify(null, Buffer.from(base), key, Buffer.from(signature, 'base64')), 'the signature is right');
  return `both requests were signed; the merchant verifies that agent ${agentId} sent them, with its public key ${keyId}`;
}
