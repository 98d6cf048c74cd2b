/** `bursar pay`: declares a payment as the agent and pays at the address, unless a person has to decide first. @module */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal, variable } from './api.ts';
import type { Command, Context } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { euros, plain } from './output.ts';
import type { Intent, Paid } from './records.ts';

type Given = {
  readonly url: string;
  readonly amount?: string;
  readonly purpose?: string;
  readonly merchant?: string;
  readonly intent?: string;
  readonly ref?: string;
  readonly wait?: string;
};

export const pay: Command<Given> = async (context, given) => {
  const { api, out } = context;
  const targetUrl = addressOf(context, given);
  const ref = given.ref ?? randomUUID();
  const intent = await waitFor(
    context,
    await intentOf(context, { ...given, url: targetUrl }, ref),
    secondsOf(given.wait),
  );
  if (intent.status === 'pending_approval') {
    out.result(intent, [
      `${intent.id} waits for a person: ${plain(intent.policyCheck.reason ?? '')}`,
      `then   bursar pay ${quoted(targetUrl)} --intent ${intent.id}`,
      out.dim(`a person approves by the owner's link, or with: bursar approve ${intent.id}`),
    ]);
    return exitCodes.waits;
  }
  // A purchase that is named may be paid already: a repeat gets the answer of the first time.
  const mayBePaid = intent.status === 'approved' || (given.ref !== undefined && intent.status !== 'denied');
  if (!mayBePaid) {
    out.result(intent, [
      `${out.bad(intent.status)}: ${plain(intent.policyCheck.reason ?? 'it can no longer be paid')}`,
    ]);
    return exitCodes.refused;
  }
  const paid = await api
    .call<Paid>('POST', '/checkout/execute', {
      as: 'agent',
      body: { intentId: intent.id, targetUrl },
      key: `pay-${intent.id}-${ref}`,
    })
    .catch((error: unknown) => {
      throw mayHavePaid(error)
        ? new CommandError(
            exitCodes.away,
            `${error.message}. It may still be paid: repeat with --intent ${intent.id} --ref ${ref}, which never pays twice`,
          )
        : error;
    });
  if (api.isPrinting) return exitCodes.done;
  const words = paid.success ? out.good('paid') : out.bad(paid.status);
  out.result({ ...paid, intentId: intent.id }, [
    `${words} ${euros(paid.amountEuros)}${paid.reason === null ? '' : `: ${plain(paid.reason)}`}`,
    out.dim(`bursar trace ${paid.transactionId ?? intent.id}`),
  ]);
  return paid.success ? exitCodes.done : exitCodes.refused;
};

/** Without an answer, or with one that says that the payment may still take effect. */
const mayHavePaid = (error: unknown): error is CommandError =>
  error instanceof CommandError &&
  (error.exitCode === exitCodes.away || (error instanceof Refusal && error.status === 503));

async function intentOf({ api }: Context, given: Given, ref: string): Promise<Intent> {
  if (given.intent !== undefined) {
    const id = encodeURIComponent(given.intent);
    return api.call<Intent>('GET', `/intents/${id}`, { as: 'agent', sample: { id: given.intent, status: 'approved' } });
  }
  const expectedAmountEuros = Number(given.amount);
  if (given.amount === undefined || !Number.isFinite(expectedAmountEuros)) {
    throw new CommandError(exitCodes.usage, 'say what it may cost: --amount <euros>, or which --intent pays for it');
  }
  const body = {
    purpose: given.purpose ?? `a purchase at ${hostOf(given.url)}`,
    expectedAmountEuros,
    ...(given.merchant === undefined ? {} : { expectedMerchant: given.merchant }),
    clientIntentId: ref,
  };
  const declared = await api.call<Intent>('POST', '/intents', {
    as: 'agent',
    body,
    key: `declare-${ref}`,
    sample: { id: variable('INTENT_ID'), status: 'approved' },
  });
  // A repeat is answered as the first time, and a person may have decided since.
  const mayBeDecided = given.ref !== undefined && declared.status === 'pending_approval';
  return mayBeDecided ? api.call<Intent>('GET', `/intents/${declared.id}`, { as: 'agent' }) : declared;
}

/** Asks until a person has decided, or the time is over. */
async function waitFor({ api, ended }: Context, intent: Intent, seconds: number): Promise<Intent> {
  const until = Date.now() + seconds * 1_000;
  let latest = intent;
  while (latest.status === 'pending_approval' && Date.now() < until && !ended.aborted) {
    await wait(2_000, undefined, { signal: ended }).catch(() => undefined);
    latest = await api.call<Intent>('GET', `/intents/${intent.id}`, { as: 'agent' });
  }
  return latest;
}

function secondsOf(text: string | undefined): number {
  const seconds = Number(text ?? 0);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new CommandError(exitCodes.usage, `--wait ${text} is no number of seconds`);
}

const hostOf = (url: string): string => new URL(url).host;

/** A shop of the sandbox by its name, which asks for the amount that was said. */
function addressOf({ env, settings }: Context, { url, amount }: Given): string {
  if (URL.canParse(url)) return url;
  const sandboxUrl = env.BURSAR_SANDBOX_URL ?? settings.ready?.sandboxUrl;
  if (!/^[a-z0-9-]+$/.test(url) || sandboxUrl == null) throw new CommandError(exitCodes.usage, `${url} is no address`);
  const price = amount === undefined ? '' : `?amountCents=${Math.round(Number(amount) * 100)}`;
  return `${sandboxUrl}/shops/${url}${price}`;
}

const quoted = (url: string): string => `'${url.replaceAll("'", `'\\''`)}'`;
