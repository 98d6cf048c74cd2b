/**
 * The challenges of the sandbox's merchants and the credentials that answer them, in the wire format of MPP (card
 * method, charge intent). Each challenge is paid once; a repeat of a paid one gets the same receipt.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { compactDecrypt, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import * as z from 'zod';
import type { Authorizations } from '../network/authorization.ts';
import type { Outgoing } from '../network/outgoing.ts';
import type { Store } from '../store.ts';
import { parsedJson } from '../wire.ts';
import type { PaidMerchant } from './merchant-catalog.ts';

const challengeLivesMs = 5 * 60_000;
const keptMs = 24 * 3_600_000;
const algorithm = 'RSA-OAEP-256';

type ChallengeRow = {
  id: string;
  merchant: string;
  amount_cents: number;
  request: string;
  expires: string;
  authorization_id: string | null;
  receipt: string | null;
};
type TokenRow = {
  token: string;
  card_ref: string;
  merchant_id: string;
  ceiling_cents: number;
  expires_at: string;
  authorization_id: string | null;
};

const Credential = z.object({
  challenge: z.object({ id: z.string(), request: z.string(), expires: z.string().optional() }),
  payload: z.object({ encryptedPayload: z.string(), network: z.string() }),
});
const Plaintext = z.object({ token: z.object({ paymentToken: z.string() }) });

export type Presented =
  | { readonly outcome: 'paid'; readonly receipt: string }
  /** `code` of the draft's problem types. */
  | { readonly outcome: 'unpaid'; readonly code: string };

export function createChallenges(store: Store, authorizations: Authorizations, outgoing: Outgoing) {
  /** Made once and stored, so that a credential for it opens after a restart. */
  async function keyPair(): Promise<{ readonly publicJwk: JWK; readonly privateJwk: JWK }> {
    const known = store.one<{ jwk: string }>('SELECT jwk FROM merchant_keys');
    if (known === undefined) {
      const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
      const made = { ...(await exportJWK(privateKey)), alg: algorithm, use: 'enc', kid: 'sandbox-enabler' };
      store.run('INSERT OR IGNORE INTO merchant_keys (id, jwk) VALUES (1, ?)', JSON.stringify(made));
      return keyPair();
    }
    const privateJwk = JSON.parse(known.jwk) as JWK;
    const { kty, n, e, alg, use, kid } = privateJwk;
    return { privateJwk, publicJwk: { kty, n, e, alg, use, kid } as JWK };
  }

  async function issue({ merchant, slug }: PaidMerchant, amountCents: number, realm: string): Promise<string> {
    const { publicJwk } = await keyPair();
    const request = base64urlOf({
      amount: String(amountCents),
      currency: 'eur',
      methodDetails: { acceptedNetworks: ['visa'], encryptionJwk: publicJwk, merchantName: merchant.name },
      recipient: merchant.id,
    });
    const id = randomBytes(24).toString('base64url');
    const now = Date.now();
    const expires = new Date(now + challengeLivesMs).toISOString();
    store.inTransaction(() => {
      store.run('DELETE FROM mpp_challenges WHERE created_at_ms < ?', now - keptMs);
      store.run(
        'INSERT INTO mpp_challenges (id, merchant, amount_cents, request, expires, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        slug,
        amountCents,
        request,
        expires,
        now,
      );
    });
    return `Payment id="${id}", realm="${realm}", method="card", intent="charge", request="${request}", expires="${expires}"`;
  }

  async function present(merchant: PaidMerchant, header: string): Promise<Presented> {
    const credential = readCredential(header);
    if (credential === undefined) return unpaid('malformed-credential');
    const { id, request, expires } = credential.challenge;
    const challenge = store.one<ChallengeRow>('SELECT * FROM mpp_challenges WHERE id = ?', id);
    const isOurs = challenge?.merchant === merchant.slug && challenge.request === request;
    if (challenge === undefined || !isOurs || challenge.expires !== expires) return unpaid('invalid-challenge');
    if (challenge.receipt !== null) return { outcome: 'paid', receipt: challenge.receipt };
    if (Date.parse(challenge.expires) <= Date.now()) return unpaid('payment-expired');
    const paymentToken = await decrypt(credential.payload.encryptedPayload);
    if (paymentToken === undefined) return unpaid('verification-failed');
    const authorizationId = store.inTransaction(() => authorize(merchant, challenge.id, paymentToken));
    if (authorizationId === undefined) return unpaid('verification-failed');
    const { state } = await authorizations.decide(authorizationId);
    void outgoing.deliver(authorizationId); // The clearing is the network's business: the buyer does not wait for it.
    if (state !== 'approved') return unpaid('verification-failed');
    // Of two presentations at once, the first one to be approved writes the receipt.
    const receipt = receiptOf(challenge.id, authorizationId);
    store.run('UPDATE mpp_challenges SET receipt = coalesce(receipt, ?) WHERE id = ?', receipt, challenge.id);
    const paid = store.one<ChallengeRow>('SELECT * FROM mpp_challenges WHERE id = ?', challenge.id);
    return { outcome: 'paid', receipt: paid?.receipt ?? receipt };
  }

  async function decrypt(jwe: string): Promise<string | undefined> {
    try {
      const key = await importJWK((await keyPair()).privateJwk, algorithm);
      const { plaintext } = await compactDecrypt(jwe, key, {
        keyManagementAlgorithms: [algorithm],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return Plaintext.safeParse(parsedJson(new TextDecoder().decode(plaintext))).data?.token.paymentToken;
    } catch {
      return undefined; // Not encrypted for this key: the shape says so.
    }
  }

  /** One token makes one authorization, and one challenge has one. Undefined where the token does not pay. */
  function authorize({ merchant }: PaidMerchant, challengeId: string, paymentToken: string): string | undefined {
    const challenge = store.one<ChallengeRow>('SELECT * FROM mpp_challenges WHERE id = ?', challengeId);
    const token = store.one<TokenRow>('SELECT * FROM tokens WHERE token = ?', paymentToken);
    if (challenge === undefined || token === undefined) return undefined;
    if (challenge.authorization_id !== null) return challenge.authorization_id;
    const isUsable =
      token.authorization_id === null &&
      token.merchant_id === merchant.id &&
      token.ceiling_cents >= challenge.amount_cents &&
      Date.parse(token.expires_at) > Date.now();
    if (!isUsable) return undefined;
    const order = {
      ...{ cardRef: token.card_ref, token: token.token, amountCents: challenge.amount_cents, merchant },
      ...({ kind: 'purchase', partialSupported: false, recurring: false } as const),
    };
    const id = authorizations.place(order, { clears: true });
    store.run('UPDATE tokens SET authorization_id = ? WHERE token = ?', id, token.token);
    store.run('UPDATE mpp_challenges SET authorization_id = ? WHERE id = ?', id, challengeId);
    return id;
  }

  return { issue, present };
}
export type Challenges = ReturnType<typeof createChallenges>;

const unpaid = (code: string): Presented => ({ outcome: 'unpaid', code });
const base64urlOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function readCredential(header: string): z.infer<typeof Credential> | undefined {
  const encoded = /^Payment ([A-Za-z0-9_-]+)$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  return Credential.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString())).data;
}

const receiptOf = (challengeId: string, reference: string): string =>
  base64urlOf({ challengeId, method: 'card', reference, status: 'success', timestamp: new Date().toISOString() });
