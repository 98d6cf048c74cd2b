/**
 * The adapter that fetches a merchant's JWK Set from `jwksUri` of its challenge. The address guard applies, the answer
 * is limited in size and time, and a redirect is no answer.
 * @module
 */
import type { MerchantKeys } from '../../domains/payments/mpp-credentials/merchant-keys.port.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

const limits = { timeoutMs: 5_000, maxBytes: 64 * 1024, requireHttps: 'always', isRepeatable: true } as const;

export const createMerchantKeys = ({ outbound }: { readonly outbound: Outbound }): MerchantKeys => ({
  async fetchKeySet(uri) {
    const request = {
      method: 'GET',
      headers: { Accept: 'application/jwk-set+json, application/json' },
      ...limits,
    } as const;
    const answer = await outbound.request(uri, request).catch((error: unknown) => {
      if (error instanceof OutboundError) return error;
      throw error;
    });
    if (answer instanceof OutboundError) {
      return { outcome: 'no_answer', why: answer.message, isForGood: answer.kind === 'refused_address' };
    }
    const { host } = new URL(uri);
    const no = (why: string) => ({ outcome: 'no_answer', why: `${host} ${why}`, isForGood: true }) as const;
    if (answer.status >= 500) return { ...no(`answered ${answer.status}`), isForGood: false };
    if (answer.status !== 200) return no(`answered ${answer.status}`);
    if (answer.truncated) return no(`sent more than ${limits.maxBytes} bytes`);
    const body = parsedJson(answer.text);
    return body === undefined ? no('sent no JSON') : { outcome: 'answered', body };
  },
});

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
