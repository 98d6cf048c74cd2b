/** What a verification shows of a token: its public claims, and nothing of one that is not valid. Shapes only. @module */
import { publicClaims } from './token.rules.ts';
import type { TokenReading } from './token.service.ts';
import type { TokenVerificationWire } from './well-known.contract.ts';

export function verificationWire(reading: TokenReading): TokenVerificationWire {
  if (!reading.ok)
    return { valid: false, type: reading.type ?? null, payload: null, reason: reading.reason, detail: reading.detail };
  const { claims, type } = reading;
  const shown = publicClaims.flatMap((name) => (claims[name] === undefined ? [] : [[name, claims[name]] as const]));
  return { valid: true, type, payload: Object.fromEntries(shown), reason: null, detail: null };
}
