/**
 * The state transitions of an agent, and the money that its cards can spend. Pure: the row and the money are arguments.
 * @module
 */
import type { Move } from '../../../kernel/move.ts';
import { type SignatureProfile, signatureProfiles } from '../../../outbound/message-signature.rules.ts';

export const agentStatuses = ['active', 'frozen', 'closed'] as const;
export type AgentStatus = (typeof agentStatuses)[number];
export const agentCommands = ['freeze', 'unfreeze', 'close'] as const;
export type AgentCommand = (typeof agentCommands)[number];

/** With what the requests to merchants are signed that Bursar sends for the agent. `both`: with one signature of each. */
export const requestSignatures = ['none', ...signatureProfiles, 'both'] as const;
export type RequestSignatures = (typeof requestSignatures)[number];

export function profilesOf(wanted: RequestSignatures): readonly SignatureProfile[] {
  if (wanted === 'none') return [];
  return wanted === 'both' ? signatureProfiles : [wanted];
}

/** `wallet`: its cards draw on its wallet. `budget`: only on what the agent was given. */
export type Funding = 'wallet' | 'budget';

export const isFinalAgent = (status: AgentStatus): boolean => status === 'closed';

/**
 * `seen`: this very cause has moved the agent before. A revoking command on an agent that is in that very state is `already` too;
 * on another final state it is refused.
 */
export function moveAgent(from: AgentStatus, command: AgentCommand, seen: boolean): Move<AgentStatus> {
  if (seen) return { outcome: 'already', next: from };
  if (revokingCommandOf[from] === command) return { outcome: 'already', next: from };
  const next = leadsTo[command][from];
  if (next !== undefined) return { outcome: 'moved', next };
  return { outcome: 'refused', why: whyNot(from, command) };
}

/** The command by which an owner's wish for a status is fulfilled; undefined when there is nothing to do. */
export function commandFor(from: AgentStatus, wanted: AgentStatus): AgentCommand | undefined {
  if (from === wanted) return undefined;
  if (wanted === 'active') return 'unfreeze';
  return wanted === 'frozen' ? 'freeze' : 'close';
}

/** Undefined when money may be given to the agent; a frozen one keeps it until it is unfrozen. */
export const whyNoFunds = (status: AgentStatus): string | undefined =>
  isFinalAgent(status) ? 'this agent is closed and takes no money; fund another agent' : undefined;

type FundingSources = { readonly status: AgentStatus; readonly funding: Funding };
type Money = { readonly walletCents: number; readonly budgetCents: number };

/** What the agent's cards can spend as far as money goes; limits and policy come on top. */
export function spendableCents({ status, funding }: FundingSources, { walletCents, budgetCents }: Money): number {
  if (isFinalAgent(status)) return 0;
  return funding === 'budget' ? budgetCents : walletCents;
}

const leadsTo: Record<AgentCommand, Partial<Record<AgentStatus, AgentStatus>>> = {
  freeze: { active: 'frozen' },
  unfreeze: { frozen: 'active' },
  close: { active: 'closed', frozen: 'closed' },
};

/** The revoking command that has led to a state. */
const revokingCommandOf: Partial<Record<AgentStatus, AgentCommand>> = { frozen: 'freeze', closed: 'close' };

function whyNot(from: AgentStatus, command: AgentCommand): string {
  if (from === 'closed') return `this agent is closed for good: cannot ${command} it`;
  return `this agent is ${from}, not frozen: there is nothing to unfreeze`;
}
