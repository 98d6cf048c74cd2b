/** An agent's moves: closed is final, a cause moves once, a revoking command repeats harmlessly; and what its cards can spend. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type AgentCommand,
  type AgentStatus,
  agentCommands,
  agentStatuses,
  commandFor,
  moveAgent,
  profilesOf,
  requestSignatures,
  spendableCents,
  whyNoFunds,
} from '../../../src/domains/parties/agents/agent.rules.ts';

const status = fc.constantFrom(...agentStatuses);
const command = fc.constantFrom(...agentCommands);

describe('the moves', () => {
  test.each<[AgentStatus, AgentCommand, string]>([
    ['active', 'freeze', 'frozen'],
    ['active', 'unfreeze', 'refused'],
    ['active', 'close', 'closed'],
    ['frozen', 'freeze', 'already'],
    ['frozen', 'unfreeze', 'active'],
    ['frozen', 'close', 'closed'],
    ['closed', 'freeze', 'refused'],
    ['closed', 'unfreeze', 'refused'],
    ['closed', 'close', 'already'],
  ])('%s, %s: %s', (from, what, expected) => {
    const move = moveAgent(from, what, false);
    expect(move.outcome === 'moved' ? move.next : move.outcome).toBe(expected);
  });

  test('a closed agent never changes its state', () => {
    fc.assert(
      fc.property(command, fc.boolean(), (what, seen) => {
        expect(moveAgent('closed', what, seen).outcome).not.toBe('moved');
      }),
    );
  });

  test('the same cause moves once, whatever the agent has become since', () => {
    fc.assert(
      fc.property(status, command, (from, what) => {
        expect(moveAgent(from, what, true)).toEqual({ outcome: 'already', next: from });
      }),
    );
  });

  test('along any way of commands the last one that took effect decides, and closing ends it', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        let at: AgentStatus = 'active';
        for (const what of commands) {
          const move = moveAgent(at, what, false);
          if (move.outcome === 'refused') expect(move.why).toMatch(/closed for good|not frozen/);
          else at = move.next;
        }
        const closedAt = commands.indexOf('close');
        if (closedAt >= 0) expect(at).toBe('closed');
        else
          expect(at).toBe(
            commands.findLast((what) => what === 'freeze' || what === 'unfreeze') === 'freeze' ? 'frozen' : 'active',
          );
      }),
    );
  });

  test('a wished status is reached by its command, or refused for a closed agent', () => {
    fc.assert(
      fc.property(status, status, (from, wanted) => {
        const what = commandFor(from, wanted);
        if (from === wanted) expect(what).toBeUndefined();
        else if (from === 'closed') expect(moveAgent(from, what as AgentCommand, false).outcome).toBe('refused');
        else expect(moveAgent(from, what as AgentCommand, false)).toEqual({ outcome: 'moved', next: wanted });
      }),
    );
  });
});

describe('the money', () => {
  const amount = fc.nat(1_000_000);
  test('cards spend from exactly one funding source, and from none once the agent is closed', () => {
    fc.assert(
      fc.property(
        status,
        fc.constantFrom('wallet' as const, 'budget' as const),
        amount,
        amount,
        (at, funding, w, b) => {
          const spendable = spendableCents({ status: at, funding }, { walletCents: w, budgetCents: b });
          expect(spendable).toBe(at === 'closed' ? 0 : funding === 'wallet' ? w : b);
        },
      ),
    );
  });
  test('every agent but a closed one can be funded', () => {
    expect(agentStatuses.filter((at) => whyNoFunds(at) !== undefined)).toEqual(['closed']);
  });
});

test('a refusal says what stands against it', () => {
  const why = (from: AgentStatus, what: AgentCommand) => {
    const move = moveAgent(from, what, false);
    return move.outcome === 'refused' ? move.why : move.outcome;
  };
  expect(why('closed', 'freeze')).toBe('this agent is closed for good: cannot freeze it');
  expect(why('closed', 'unfreeze')).toBe('this agent is closed for good: cannot unfreeze it');
  expect(why('active', 'unfreeze')).toBe('this agent is active, not frozen: there is nothing to unfreeze');
  expect(whyNoFunds('closed')).toBe('this agent is closed and takes no money; fund another agent');
  expect(moveAgent('frozen', 'freeze', false)).toEqual({ outcome: 'already', next: 'frozen' });
  expect(commandFor('closed', 'frozen')).toBe('freeze');
  expect(commandFor('active', 'closed')).toBe('close');
});

test('each choice of signatures gives its profiles, once each; none gives none', () => {
  expect(requestSignatures.map((wanted) => [wanted, profilesOf(wanted)])).toEqual([
    ['none', []],
    ['web_bot_auth', ['web_bot_auth']],
    ['trusted_agent', ['trusted_agent']],
    ['both', ['web_bot_auth', 'trusted_agent']],
  ]);
});
