/**
 * Reads payment challenges (draft-httpauth-payment-01; card method and charge intent, draft-00), decides which of them
 * Bursar can answer, and names what was offered when it can answer none. Compares nothing with an intent or a policy.
 * Pure: header values and the time are arguments.
 * @module
 */
import * as z from 'zod';
import { type Cents, cents } from '../../../kernel/money.ts';
import type { HeaderChallenge } from './authenticate-header.rules.ts';

/** The strings exactly as received: a credential returns them unchanged. */
export type Challenge = {
  readonly id: string;
  readonly realm: string;
  readonly method: 'card';
  readonly intent: 'charge';
  readonly request: string;
  readonly expires?: string;
  readonly digest?: string;
  readonly description?: string;
  readonly opaque?: string;
  readonly header?: typeof paymentAuthorization;
};

export type ChargeRequest = {
  readonly amountCents: Cents;
  /** The merchant's id at its acquirer. */
  readonly recipient: string | undefined;
  readonly externalId: string | undefined;
  /** Display text of the merchant. It identifies no one. */
  readonly merchantName: string;
  readonly acceptedNetworks: readonly CardNetwork[];
  readonly key: KeySource;
  readonly isBillingRequired: boolean;
};

/** The source of the merchant's public key, for which the payment token is encrypted. */
export type KeySource =
  | { readonly kind: 'embedded'; readonly jwk: Readonly<Record<string, unknown>> }
  | { readonly kind: 'published'; readonly uri: string; readonly kid: string };

export const cardNetworks = ['visa', 'mastercard', 'amex', 'discover'] as const;
export type CardNetwork = (typeof cardNetworks)[number];

/** The only value of `header` that the draft defines: the header that carries the credential. */
export const paymentAuthorization = 'Payment-Authorization';

export type ChallengeReading =
  | { readonly ok: true; readonly challenge: Challenge; readonly charge: ChargeRequest }
  | { readonly ok: false; readonly reason: string };

/** A challenge of a merchant with a 4,096-bit key is about 2 KB. */
const longestChallengeBytes = 16_384;

const required = ['id', 'realm', 'method', 'intent', 'request'] as const;
const optional = ['expires', 'digest', 'description', 'opaque'] as const;

/** Reads one challenge. `nowMs` is real time. */
export function readChallenge({ scheme, parameters, fault }: HeaderChallenge, nowMs: number): ChallengeReading {
  const no = (reason: string): ChallengeReading => ({ ok: false, reason });
  if (scheme !== 'payment') return no(`the scheme is ${scheme}`);
  if (fault !== undefined) return no(fault);
  if ([...parameters.values()].reduce((sum, value) => sum + value.length, 0) > longestChallengeBytes)
    return no(`the challenge is longer than ${longestChallengeBytes} bytes`);
  const missing = required.find((name) => !parameters.get(name));
  if (missing !== undefined) return no(`${missing} is missing`);
  const value = (name: string): string => parameters.get(name) ?? '';
  if (value('method') !== 'card' || value('intent') !== 'charge')
    return no(`the method is ${value('method')}/${value('intent')}`);
  const header = parameters.get('header');
  if (header !== undefined && header !== paymentAuthorization) return no('the header for the credential is unknown');
  const expires = parameters.get('expires');
  if (expires !== undefined) {
    const expiresAtMs = instantOf(expires);
    if (expiresAtMs === undefined) return no('expires is not a date and time of RFC 3339');
    if (expiresAtMs <= nowMs) return no(`the challenge expired at ${new Date(expiresAtMs).toISOString()}`);
  }
  const charge = readRequest(value('request'));
  if ('reason' in charge) return no(charge.reason);
  const challenge: Challenge = {
    id: value('id'),
    realm: value('realm'),
    method: 'card',
    intent: 'charge',
    request: value('request'),
    ...Object.fromEntries(optional.filter((name) => parameters.has(name)).map((name) => [name, value(name)])),
    ...(header === undefined ? {} : { header }),
  };
  return { ok: true, challenge, charge };
}

export type ChallengeChoice =
  | { readonly ok: true; readonly challenge: Challenge; readonly charge: ChargeRequest }
  /** `offered`: method and intent of every payment challenge, for the sentence of the refusal. */
  | { readonly ok: false; readonly reasons: readonly string[]; readonly offered: readonly string[] };

/** Chooses the first challenge that Bursar can answer: servers send them in the order of their preference. */
export function chooseChallenge(challenges: readonly HeaderChallenge[], nowMs: number): ChallengeChoice {
  const payments = challenges.filter(({ scheme }) => scheme === 'payment');
  const readings = payments.map((challenge) => readChallenge(challenge, nowMs));
  const usable = readings.find((reading) => reading.ok);
  if (usable !== undefined) return usable;
  return {
    ok: false,
    reasons: readings.flatMap((reading) => (reading.ok ? [] : [reading.reason])),
    offered: payments.flatMap(({ parameters }) => {
      const [method, intent] = [parameters.get('method'), parameters.get('intent')];
      return method !== undefined && intent !== undefined ? [`${method}/${intent}`] : [];
    }),
  };
}

/** Milliseconds of an RFC 3339 date-time; undefined for another text and for a day that does not exist. */
function instantOf(text: string): number | undefined {
  const { success, data } = dateTime.safeParse(text.toUpperCase());
  return success ? Date.parse(data) : undefined;
}

const dateTime = z.iso.datetime({ offset: true });

/** An amount of money is at most nine digits in euros. */
const minorUnits = /^(0|[1-9][0-9]{0,10})$/;
const text = z.string().max(2_048);

const requestForm = z.object({
  amount: z.string(),
  currency: z.string(),
  recipient: text.optional(),
  externalId: text.optional(),
  methodDetails: z.object({
    acceptedNetworks: z.array(z.string()).max(32),
    merchantName: text,
    encryptionJwk: z.record(z.string(), z.unknown()).optional(),
    jwksUri: text.optional(),
    kid: text.optional(),
    billingRequired: z.boolean().optional(),
  }),
});

function readRequest(encoded: string): ChargeRequest | { readonly reason: string } {
  const json = jsonOf(encoded);
  if (json === undefined) return { reason: 'request is not the base64url of a JSON text' };
  const { success, data, error } = requestForm.safeParse(json);
  if (!success) return { reason: `request has no valid ${error.issues[0]?.path.join('.') || 'form'}` };
  if (!minorUnits.test(data.amount)) return { reason: 'amount is not a whole number of minor units' };
  if (Number(data.amount) === 0) return { reason: 'amount is zero' };
  if (data.currency !== 'eur') return { reason: `the currency is ${data.currency.slice(0, 12)}; Bursar pays in eur` };
  const details = data.methodDetails;
  const acceptedNetworks = cardNetworks.filter((network) => details.acceptedNetworks.includes(network));
  if (acceptedNetworks.length === 0) return { reason: 'acceptedNetworks names no card network' };
  const key = keySourceOf(details);
  if ('reason' in key) return key;
  return {
    amountCents: cents(Number(data.amount)),
    recipient: data.recipient,
    externalId: data.externalId,
    merchantName: details.merchantName,
    acceptedNetworks,
    key,
    isBillingRequired: details.billingRequired ?? false,
  };
}

function keySourceOf({
  encryptionJwk,
  jwksUri,
  kid,
}: z.infer<typeof requestForm>['methodDetails']): KeySource | { readonly reason: string } {
  if (encryptionJwk !== undefined && jwksUri !== undefined)
    return { reason: 'request has both encryptionJwk and jwksUri' };
  if (encryptionJwk !== undefined) {
    if (kid !== undefined) return { reason: 'request has encryptionJwk and a kid beside it' };
    return { kind: 'embedded', jwk: encryptionJwk };
  }
  if (jwksUri === undefined) return { reason: 'request has neither encryptionJwk nor jwksUri' };
  if (!kid) return { reason: 'request has jwksUri without kid' };
  return { kind: 'published', uri: jwksUri, kid };
}

const base64url = /^[A-Za-z0-9_-]+$/;

/** The JSON value of an unpadded base64url text in valid UTF-8; undefined for anything else. */
export function jsonOf(encoded: string): unknown {
  if (!base64url.test(encoded)) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url')));
  } catch {
    return undefined;
  }
}
