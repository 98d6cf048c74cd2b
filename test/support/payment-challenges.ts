/** Payment challenges as a merchant would send them, and the merchant's side of a credential. @module */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { parseAuthenticate } from '../../src/domains/payments/mpp/authenticate-header.rules.ts';
import { chooseChallenge } from '../../src/domains/payments/mpp/challenge.wire.ts';

const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const encryptionJwk = {
  ...keys.publicKey.export({ format: 'jwk' }),
  alg: 'RSA-OAEP-256',
  use: 'enc',
  kid: 'enc-1',
};

type ChallengeOptions = {
  readonly id?: string;
  readonly amountCents?: number;
  readonly currency?: string;
  readonly recipient?: string | undefined;
  readonly realm?: string;
  readonly expires?: string | undefined;
  readonly networks?: readonly string[];
  /** Instead of the embedded key. */
  readonly keySource?: Readonly<Record<string, unknown>>;
};

let counted = 0;

/** The value of `WWW-Authenticate`. */
export function challengeHeader({
  id = `challenge-${process.pid}-${++counted}`,
  amountCents = 1_250,
  currency = 'eur',
  realm = 'shop.example',
  networks = ['visa'],
  keySource = { encryptionJwk },
  ...options
}: ChallengeOptions = {}): string {
  const recipient = 'recipient' in options ? options.recipient : 'merch_1';
  const expires = 'expires' in options ? options.expires : new Date(Date.now() + 120_000).toISOString();
  const request = Buffer.from(
    JSON.stringify({
      amount: String(amountCents),
      currency,
      methodDetails: { acceptedNetworks: networks, merchantName: 'Shop', ...keySource },
      ...(recipient === undefined ? {} : { recipient }),
    }),
  ).toString('base64url');
  const until = expires === undefined ? '' : `, expires="${expires}"`;
  return `Payment id="${id}", realm="${realm}", method="card", intent="charge", request="${request}"${until}`;
}

export function readChallengeHeader(header: string) {
  const choice = chooseChallenge(parseAuthenticate([header]), Date.now());
  if (!choice.ok) throw new Error(`no challenge: ${choice.reasons.join('; ')}`);
  return { challenge: choice.challenge, charge: choice.charge };
}

type Credential = {
  challenge: Record<string, string>;
  payload: { encryptedPayload: string } & Record<string, string>;
};
type PaymentToken = { token: { paymentToken: string }; dynamicData: Record<string, unknown> };

/** What the merchant and its enabler read from the header value. */
export async function openCredential(
  value: string,
  key: KeyObject = keys.privateKey,
): Promise<Credential & { plaintext: PaymentToken }> {
  const encoded = value.replace(/^Payment /, '');
  const credential = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Credential;
  const { plaintext } = await compactDecrypt(credential.payload.encryptedPayload, key);
  return { ...credential, plaintext: JSON.parse(new TextDecoder().decode(plaintext)) as PaymentToken };
}
