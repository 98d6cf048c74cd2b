/** The state transitions of a wallet, how deep wallets nest, and when one may be closed. Pure. @module */

import { inWords } from '../../../kernel/money.ts';
import type { Move } from '../../../kernel/move.ts';

export const walletStatuses = ['active', 'frozen', 'closed'] as const;
export type WalletStatus = (typeof walletStatuses)[number];

/** A wallet without a parent is on level 1. */
export const deepestLevel = 5;
export const mayHaveChild = (level: number): boolean => level < deepestLevel;

export type Closing = {
  readonly isDefault: boolean;
  readonly availableCents: number;
  readonly heldCents: number;
  readonly openChildren: number;
  /** Agents that are not closed and draw on it. */
  readonly drawingAgents: number;
};

export function closeWallet(from: WalletStatus, facts: Closing): Move<WalletStatus> {
  if (from === 'closed') return { outcome: 'already', next: 'closed' };
  const why = whyNot(facts);
  return why === undefined ? { outcome: 'moved', next: 'closed' } : { outcome: 'refused', why };
}

function whyNot(facts: Closing): string | undefined {
  if (facts.isDefault) return 'this is the default wallet; make another one the default first';
  if (facts.availableCents > 0) return `it holds ${inWords(facts.availableCents)} euros; move them first`;
  if (facts.heldCents > 0) return `${inWords(facts.heldCents)} euros are held for open payments; wait until they end`;
  if (facts.openChildren > 0) return `${facts.openChildren} open wallets lie below it; close them first`;
  if (facts.drawingAgents > 0) return `${facts.drawingAgents} agents draw on it; close them first`;
  return undefined;
}
