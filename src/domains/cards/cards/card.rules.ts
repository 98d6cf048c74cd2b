/**
 * The state transitions of a card, and the next call to the processor that its workflow has to make. Pure: the row, its
 * agent's state and whether the cause was seen are arguments.
 * @module
 */
import type { Move } from '../../../kernel/move.ts';

export const cardStatuses = ['active', 'frozen', 'closed'] as const;
export type CardStatus = (typeof cardStatuses)[number];
export const cardUsages = ['single', 'multi'] as const;

/** Who froze it: an owner's own freeze outlasts the unfreezing of the agent. */
export type FrozenBy = 'card' | 'agent' | 'policy';
export type CardState = { readonly status: CardStatus; readonly frozenBy: FrozenBy | null };

/** A card's own limits. Null clears, undefined leaves. */
export type CardLimits = {
  readonly maxTransactionCents?: number | null | undefined;
  readonly dailyLimitCents?: number | null | undefined;
  readonly monthlyLimitCents?: number | null | undefined;
};

export type CardCommand =
  | { readonly kind: 'freeze'; readonly by: FrozenBy }
  | { readonly kind: 'unfreeze'; readonly by: 'card' | 'agent' }
  | { readonly kind: 'close' };

/**
 * `seen`: this very cause has moved the row before. Freeze and close are revoking commands: on a card that is there
 * already
 * they change nothing and succeed; on one that is closed, freeze is refused. Unfreezing needs an active agent.
 */
export function moveCard(
  from: CardState,
  command: CardCommand,
  agentStatus: 'active' | 'frozen' | 'closed',
  seen: boolean,
): Move<CardStatus> {
  if (seen) return { outcome: 'already', next: from.status };
  if (command.kind === 'close') return { outcome: from.status === 'closed' ? 'already' : 'moved', next: 'closed' };
  if (from.status === 'closed') return refused(`cannot ${command.kind} a card that is closed: closed is final`);
  if (command.kind === 'freeze') return { outcome: from.status === 'frozen' ? 'already' : 'moved', next: 'frozen' };
  const why = whyNotUnfrozen(from, command.by, agentStatus);
  return why === undefined ? { outcome: 'moved', next: 'active' } : refused(why);
}

function whyNotUnfrozen(from: CardState, by: 'card' | 'agent', agentStatus: string): string | undefined {
  if (from.status === 'active') return 'cannot unfreeze a card that is active';
  if (agentStatus !== 'active') return `cannot unfreeze a card of an agent that is ${agentStatus}: unfreeze the agent`;
  if (by === 'agent') return from.frozenBy === 'agent' ? undefined : `the card was frozen by the ${from.frozenBy}`;
  return from.frozenBy === 'agent' ? 'the card was frozen with its agent: unfreeze the agent' : undefined;
}

/** Who holds the card frozen after a command: an owner's freeze of the card itself takes over from any other. */
export function frozenByAfter(from: CardState, command: CardCommand): FrozenBy | null {
  if (command.kind !== 'freeze') return null;
  return from.status === 'frozen' && command.by !== 'card' ? from.frozenBy : command.by;
}

/** A frozen card may have a new number, and stays frozen; a card gets one new number at a time. */
export function whyNotRotated(
  { status, replacedByCardId }: { status: CardStatus; replacedByCardId: string | null },
  isUnderWay: boolean,
): string | undefined {
  const after = replacedByCardId === null ? 'closed is final' : `card ${replacedByCardId} has taken its place`;
  if (status === 'closed') return `cannot rotate a card that is closed: ${after}`;
  return isUnderWay
    ? 'the card is being rotated: repeat the request that began it with its Idempotency-Key'
    : undefined;
}

export type CardNeeds = {
  readonly status: CardStatus;
  /** The state that the processor has last confirmed; null until it has issued the card. */
  readonly syncedState: CardStatus | null;
};

/** A card that was closed while it was being issued is issued first: the processor may have been asked already. */
export function nextCardStep({ status, syncedState }: CardNeeds): 'issue' | 'sync' | 'wait' | 'final' {
  if (syncedState === null) return 'issue';
  if (syncedState !== status) return 'sync';
  return status === 'closed' ? 'final' : 'wait';
}

const refused = (why: string): Move<CardStatus> => ({ outcome: 'refused', why });
