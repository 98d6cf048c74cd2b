/**
 * One attempt: signs a claimed delivery, sends it and returns the result. Writes nothing. A failure of the receiver is
 * a result; only internal errors throw.
 * @module
 */
import { second } from '../../../kernel/instant.ts';
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.ts';
import { OutboundError, refusedAddress } from '../../../outbound/outbound-error.ts';
import { redactText } from '../../../platform/redact.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { Claimed } from './delivery.claim.service.ts';
import { type Attempted, isSuccess, retryAfterMs } from './delivery.rules.ts';
import { whyNotHttps } from './webhook.rules.ts';
import { deliveryHeaders, type Secrets } from './webhook.signature.ts';

export type Result = {
  readonly claimed: Claimed;
  readonly attempted: Attempted;
  readonly tookMs: number;
  readonly retryAfterMs: number;
  /** At most 1 KiB, masked; kept of failures. */
  readonly responseBody: string | null;
};
export type SendDelivery = (claimed: Claimed) => Promise<Result>;

type Deps = {
  readonly outbound: Outbound;
  readonly vault: Vault;
  /** Subscriptions with an http URL get nothing; each attempt fails and says why. */
  readonly httpsOnly?: boolean;
  readonly timeoutMs?: number;
};

export const attemptTimeoutMs = 30 * second;
const bytesRead = 64 * 1_024;
const maxBodyCharacters = 1_024;

export function createSender({ outbound, vault, httpsOnly = false, timeoutMs = attemptTimeoutMs }: Deps): SendDelivery {
  const secretsOf = rememberingSecrets(vault);
  return async (claimed) => {
    const whyNot = whyNotHttps(claimed.url, httpsOnly);
    if (whyNot !== undefined) return { claimed, tookMs: 0, ...ofError(refusedAddress(whyNot)) };
    const opened = secretsOf(claimed);
    const secrets = opened instanceof Promise ? await opened : opened;
    const { body } = claimed;
    const now = new Date(); // Signatures carry real time; receivers refuse old ones.
    const signed = {
      attemptId: `${claimed.id}.${claimed.claimCount}`,
      deliveryId: claimed.id,
      unixSeconds: Math.floor(now.getTime() / 1_000),
      body,
    };
    const started = performance.now();
    const request = outbound.request(claimed.url, {
      method: 'POST',
      headers: deliveryHeaders(secrets, signed, claimed),
      body,
      timeoutMs,
      maxBytes: bytesRead,
      isRepeatable: true,
    });
    const answered = await request.then(ofAnswer, ofError);
    return { claimed, tookMs: Math.round(performance.now() - started), ...answered };
  };
}

type Answered = Omit<Result, 'claimed' | 'tookMs'>;

function ofAnswer(answer: OutboundAnswer): Answered {
  const attempted = { status: answer.status, timedOut: false, failure: null };
  // What a receiver says with a success is not kept, so it is neither read nor masked.
  if (isSuccess(attempted)) return { attempted, retryAfterMs: 0, responseBody: null };
  const { headers, text } = answer;
  return {
    attempted,
    retryAfterMs: retryAfterMs(headers['retry-after'], new Date()),
    responseBody: text === '' ? null : storedText(text),
  };
}

/** An answer that broke off after its status counts as that status. */
function ofError(error: unknown): Answered {
  if (!(error instanceof OutboundError)) throw error;
  return {
    attempted: { status: error.status ?? null, timedOut: error.kind === 'timeout', failure: storable(error.message) },
    retryAfterMs: 0,
    responseBody: null,
  };
}

const storedText = (text: string): string =>
  storable(redactText(text.slice(0, 4 * maxBodyCharacters)).slice(0, maxBodyCharacters));

/** JSON columns take neither NUL nor half of a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

const mostSecretsRemembered = 2_000;

/**
 * Opening costs more than signing; what is remembered is found by the sealed text, so a new secret is never missed. What is
 * known is answered at once, because a promise for each delivery costs as much as its signature.
 */
function rememberingSecrets(vault: Vault): (claimed: Claimed) => Secrets | Promise<Secrets> {
  const known = new Map<string, string | Promise<string>>();
  const secretOf = (webhookId: string, sealedSecret: string): string | Promise<string> => {
    const found = known.get(sealedSecret);
    if (found !== undefined) return found;
    if (known.size >= mostSecretsRemembered) known.clear();
    const opening = vault.open(sealedSecret, secretContext(webhookId));
    known.set(sealedSecret, opening);
    opening.then(
      (secret) => known.set(sealedSecret, secret),
      () => known.delete(sealedSecret), // The caller gets the failure; the next one tries again.
    );
    return opening;
  };
  return ({ webhookId, sealedSecret, previousSealedSecret }) => {
    const secret = secretOf(webhookId, sealedSecret);
    const previous = previousSealedSecret === null ? undefined : secretOf(webhookId, previousSealedSecret);
    if (secret instanceof Promise || previous instanceof Promise) return secretsFrom(secret, previous);
    return previous === undefined ? { secret } : { secret, previous };
  };
}

async function secretsFrom(
  secret: string | Promise<string>,
  previous: string | Promise<string> | undefined,
): Promise<Secrets> {
  const [opened, before] = await Promise.all([secret, previous]);
  return before === undefined ? { secret: opened } : { secret: opened, previous: before };
}

/** Where in the vault a subscription's secret belongs. */
export const secretContext = (webhookId: string): string => `webhook/${webhookId}`;
