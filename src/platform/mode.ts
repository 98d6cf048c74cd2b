/** The deployment's mode, and which credential prefixes belong to it. @module */
export type Mode = 'sandbox' | 'live';

const keyPrefixes = { sandbox: ['sk_sandbox_', 'sk_test_'], live: ['sk_live_', 'sk_'] } as const;
const tokenPrefixes = { sandbox: ['at_test_', 'at_dlg_'], live: ['at_live_', 'at_dlg_'] } as const;

export type CredentialKind = 'key' | 'agent';

/** What a bearer token claims to be; undefined when its prefix does not belong to this deployment. */
export function credentialKind(token: string, mode: Mode): CredentialKind | undefined {
  if (tokenPrefixes[mode].some((prefix) => token.startsWith(prefix))) return 'agent';
  const named = [...keyPrefixes.sandbox, 'sk_live_'].filter((prefix) => token.startsWith(prefix));
  const prefixes: readonly string[] = keyPrefixes[mode];
  if (named.length > 0) return named.some((prefix) => prefixes.includes(prefix)) ? 'key' : undefined;
  return mode === 'live' && token.startsWith('sk_') ? 'key' : undefined;
}

export const newKeyPrefix = (mode: Mode): string => (mode === 'live' ? 'sk_live_' : 'sk_sandbox_');
export const newTokenPrefix = (mode: Mode): string => (mode === 'live' ? 'at_live_' : 'at_test_');
