/**
 * When an agent token may be created, how long it is valid, and whether it is accepted. Pure; real time is an argument.
 * @module
 */
import { day } from '../../../kernel/instant.ts';
import type { Move } from '../../../kernel/move.ts';

export type TokenStatus = 'active' | 'revoked';

export const longestTokenDays = 3_650;

/** Undefined when a token may be made for an agent in this state; a frozen agent may still read. */
export const whyNoToken = (agentStatus: string): string | undefined =>
  agentStatus === 'closed' ? 'this agent is closed; its tokens are revoked and it gets no new ones' : undefined;

export const tokenExpiry = (realNow: Date, days: number | undefined): Date | null =>
  days === undefined ? null : new Date(realNow.getTime() + days * day);

export type TokenState = { readonly revokedAt: Date | null; readonly expiresAt: Date | null };

export const mayBeUsed = ({ revokedAt, expiresAt }: TokenState, realNow: Date): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt.getTime() > realNow.getTime());

/** Expired tokens are revoked like others: their owner wants them gone. */
export const revokeToken = (from: TokenStatus): Move<TokenStatus> =>
  from === 'revoked' ? { outcome: 'already', next: 'revoked' } : { outcome: 'moved', next: 'revoked' };
