/**
 * Caches the owner of a credential for at most one second, and nothing while revocations cannot be received. A lookup
 * from before a change is not cached when it ends after the change.
 * @module
 */
import { second } from '../../../kernel/instant.ts';

export type CredentialCache<Found> = {
  /** Undefined when nothing is remembered; what is remembered is at most a second old. */
  recall(hash: string): Found | undefined;
  /** To be asked before the lookup; whatever changed since then voids `remember`. */
  age(): number;
  remember(hash: string, found: Found, age: number): void;
  forget(): void;
  /** The cache is used only while a listener receives changes. */
  listening(isListening: boolean): void;
};

export function createCredentialCache<Found>(realNow: () => number = () => Date.now()): CredentialCache<Found> {
  const remembered = new Map<string, { found: Found; until: number }>();
  let changes = 0;
  let isListening = false;
  const forget = (): void => {
    changes++;
    remembered.clear();
  };
  return {
    recall: (hash) => {
      const entry = remembered.get(hash);
      if (entry === undefined) return undefined;
      if (entry.until > realNow()) return entry.found;
      remembered.delete(hash);
      return undefined;
    },
    age: () => changes,
    remember: (hash, found, age) => {
      if (!isListening || age !== changes) return;
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(hash, { found, until: realNow() + second });
    },
    forget,
    listening: (now) => {
      isListening = now;
      forget();
    },
  };
}

const mostRemembered = 10_000;
