/** Which of the published keys signs, and from when a new one does. Pure. @module */
import { second } from '../../../kernel/instant.ts';

/** `checkpoint`: ledger checkpoints. `service`: receipts and payment tokens. `agent`: what an agent signs. */
export const keyPurposes = ['checkpoint', 'service', 'agent'] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

/** How long callers may keep the key set. */
export const keySetCacheSeconds = 300;

/** Twice as long as the key set is kept in caches, so that everyone knows a new key before it signs. */
export const publishedBeforeUseMs = 2 * keySetCacheSeconds * second;

/** When a new key may sign. The first one at once: no one has read a key set without it. */
export const activeFrom = (now: Date, isFirst: boolean): Date =>
  isFirst ? now : new Date(now.getTime() + publishedBeforeUseMs);

type Published = { readonly kid: string; readonly activeFrom: Date };

/** The youngest key that may sign; undefined where none may. */
export function keyThatSigns<Key extends Published>(keys: readonly Key[], now: Date): Key | undefined {
  const active = keys.filter((key) => key.activeFrom <= now);
  return active.reduce<Key | undefined>(
    (youngest, key) => (youngest === undefined || isYounger(key, youngest) ? key : youngest),
    undefined,
  );
}

const isYounger = (one: Published, other: Published): boolean =>
  one.activeFrom.getTime() === other.activeFrom.getTime() ? one.kid > other.kid : one.activeFrom > other.activeFrom;
