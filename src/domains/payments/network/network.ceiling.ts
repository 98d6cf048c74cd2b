/** Limits the messages of one network key: a number per second of real time and process. @module */
import { DomainError } from '../../../kernel/errors.ts';
import { second } from '../../../kernel/instant.ts';

/** Counts one signed message of that adapter. Throws `rate_limited` when it is one too many. */
export type MessageCeiling = (adapter: string) => void;

/** `perSecond`: this process' share of the ceiling. */
export function createMessageCeiling(perSecond: number, realNow: () => number = Date.now): MessageCeiling {
  const counts = new Map<string, { count: number; until: number }>(); // One entry for each adapter.
  return (adapter) => {
    const now = realNow();
    const known = counts.get(adapter);
    if (known === undefined || known.until <= now) {
      counts.set(adapter, { count: 1, until: now + second });
      return;
    }
    known.count += 1;
    if (known.count <= perSecond) return;
    const message = `more than ${perSecond} messages in a second with this network key; wait 1 s`;
    throw new DomainError('rate_limited', message, { retryAfterSeconds: 1 });
  };
}
