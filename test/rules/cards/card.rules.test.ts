/** What a card may become: closed is final, one cause moves once, and only who froze it may unfreeze it. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CardCommand,
  type CardState,
  cardStatuses,
  frozenByAfter,
  moveCard,
  nextCardStep,
  whyNotRotated,
} from '../../../src/domains/cards/cards/card.rules.ts';

const frozenBy = fc.constantFrom('card' as const, 'agent' as const, 'policy' as const);
const state: fc.Arbitrary<CardState> = fc.oneof(
  fc.constant({ status: 'active', frozenBy: null } as const),
  fc.constant({ status: 'closed', frozenBy: null } as const),
  frozenBy.map((by) => ({ status: 'frozen', frozenBy: by }) as const),
);
const command: fc.Arbitrary<CardCommand> = fc.oneof(
  frozenBy.map((by) => ({ kind: 'freeze', by }) as const),
  fc.constantFrom('card' as const, 'agent' as const).map((by) => ({ kind: 'unfreeze', by }) as const),
  fc.constant({ kind: 'close' } as const),
);
const agent = fc.constantFrom('active' as const, 'frozen' as const, 'closed' as const);

const rowAfter = (from: CardState, to: CardCommand, next: CardState['status']): CardState => ({
  status: next,
  frozenBy: next === 'frozen' ? frozenByAfter(from, to) : null,
});

describe('whatever comes', () => {
  test('a closed card stays closed', () => {
    fc.assert(
      fc.property(command, agent, fc.boolean(), (any, agentStatus, seen) => {
        const move = moveCard({ status: 'closed', frozenBy: null }, any, agentStatus, seen);
        if (move.outcome !== 'refused') expect(move.next).toBe('closed');
        expect(move.outcome).not.toBe('moved');
      }),
    );
  });

  test('the same cause again changes nothing', () => {
    fc.assert(
      fc.property(state, command, agent, (from, any, agentStatus) => {
        expect(moveCard(from, any, agentStatus, true)).toEqual({ outcome: 'already', next: from.status });
      }),
    );
  });

  test('a revoking command succeeds on every card that is not closed, and a second one changes nothing', () => {
    fc.assert(
      fc.property(state, agent, fc.constantFrom('freeze' as const, 'close' as const), (from, agentStatus, kind) => {
        const brake: CardCommand = kind === 'freeze' ? { kind, by: 'card' } : { kind };
        if (from.status === 'closed' && kind === 'freeze') return;
        const first = moveCard(from, brake, agentStatus, false);
        expect(first.outcome).not.toBe('refused');
        if (first.outcome === 'refused') return;
        expect(moveCard(rowAfter(from, brake, first.next), brake, agentStatus, false)).toEqual({
          outcome: 'already',
          next: first.next,
        });
      }),
    );
  });

  test('no card becomes active while its agent is not, and only the one that froze it unfreezes it', () => {
    fc.assert(
      fc.property(state, command, agent, (from, any, agentStatus) => {
        const move = moveCard(from, any, agentStatus, false);
        if (move.outcome !== 'moved' || move.next !== 'active') return;
        expect(agentStatus).toBe('active');
        expect(from.status).toBe('frozen');
        if (any.kind === 'unfreeze') expect(any.by === 'agent').toBe(from.frozenBy === 'agent');
      }),
    );
  });

  test('`frozen_by` is set exactly while a card is frozen', () => {
    fc.assert(
      fc.property(state, fc.array(fc.tuple(command, agent)), (first, commands) => {
        let now = first;
        for (const [next, agentStatus] of commands) {
          const move = moveCard(now, next, agentStatus, false);
          if (move.outcome === 'moved') now = rowAfter(now, next, move.next);
          expect(now.frozenBy === null).toBe(now.status !== 'frozen');
        }
      }),
    );
  });

  test("an owner's freeze of the card outlasts the agent's unfreeze", () => {
    fc.assert(
      fc.property(state, (from) => {
        if (from.status === 'closed') return;
        const held = { status: 'frozen', frozenBy: frozenByAfter(from, { kind: 'freeze', by: 'card' }) } as const;
        expect(moveCard(held, { kind: 'unfreeze', by: 'agent' }, 'active', false).outcome).toBe('refused');
        expect(frozenByAfter(held, { kind: 'freeze', by: 'agent' })).toBe('card');
      }),
    );
  });
});

test.each<[CardState, CardCommand, 'active' | 'frozen' | 'closed', RegExp]>([
  [{ status: 'active', frozenBy: null }, { kind: 'unfreeze', by: 'card' }, 'active', /card that is active/],
  [{ status: 'closed', frozenBy: null }, { kind: 'unfreeze', by: 'card' }, 'active', /closed is final/],
  [{ status: 'closed', frozenBy: null }, { kind: 'freeze', by: 'card' }, 'active', /closed is final/],
  [
    { status: 'frozen', frozenBy: 'agent' },
    { kind: 'unfreeze', by: 'card' },
    'active',
    /with its agent: unfreeze the agent/,
  ],
  [
    { status: 'frozen', frozenBy: 'card' },
    { kind: 'unfreeze', by: 'card' },
    'frozen',
    /agent that is frozen: unfreeze the agent/,
  ],
  [{ status: 'frozen', frozenBy: 'card' }, { kind: 'unfreeze', by: 'card' }, 'closed', /agent that is closed/],
  [{ status: 'frozen', frozenBy: 'card' }, { kind: 'unfreeze', by: 'agent' }, 'active', /frozen by the card/],
])('%j refuses %j of an %s agent in words', (from, any, agentStatus, why) => {
  const move = moveCard(from, any, agentStatus, false);
  expect(move).toMatchObject({ outcome: 'refused', why: expect.stringMatching(why) });
});

test.each<[CardState, CardCommand, string]>([
  [{ status: 'active', frozenBy: null }, { kind: 'unfreeze', by: 'agent' }, 'cannot unfreeze a card that is active'],
  [{ status: 'frozen', frozenBy: 'policy' }, { kind: 'unfreeze', by: 'agent' }, 'the card was frozen by the policy'],
  [
    { status: 'frozen', frozenBy: 'agent' },
    { kind: 'unfreeze', by: 'card' },
    'the card was frozen with its agent: unfreeze the agent',
  ],
  [
    { status: 'closed', frozenBy: null },
    { kind: 'unfreeze', by: 'agent' },
    'cannot unfreeze a card that is closed: closed is final',
  ],
])('%j refuses %j with the whole sentence', (from, any, why) => {
  expect(moveCard(from, any, 'active', false)).toEqual({ outcome: 'refused', why });
});

test('a card moves where its command leads', () => {
  const active: CardState = { status: 'active', frozenBy: null };
  const frozen = (frozenBy: 'card' | 'agent' | 'policy'): CardState => ({ status: 'frozen', frozenBy });
  for (const from of [active, frozen('card')])
    expect(moveCard(from, { kind: 'close' }, 'closed', false)).toEqual({ outcome: 'moved', next: 'closed' });
  expect(moveCard(active, { kind: 'freeze', by: 'agent' }, 'frozen', false)).toEqual({
    ...{ outcome: 'moved', next: 'frozen' },
  });
  for (const [from, by] of [
    [frozen('card'), 'card'],
    [frozen('policy'), 'card'],
    [frozen('agent'), 'agent'],
  ] as const)
    expect(moveCard(from, { kind: 'unfreeze', by }, 'active', false)).toEqual({ outcome: 'moved', next: 'active' });
});

test('the owner’s freeze of a card takes over from any other, and no other one from it', () => {
  const frozen = { status: 'frozen', frozenBy: 'policy' } as const;
  const active = { status: 'active', frozenBy: null } as const;
  expect(frozenByAfter(frozen, { kind: 'freeze', by: 'card' })).toBe('card');
  expect(frozenByAfter(frozen, { kind: 'freeze', by: 'agent' })).toBe('policy');
  expect(frozenByAfter(active, { kind: 'freeze', by: 'agent' })).toBe('agent');
  expect(frozenByAfter(frozen, { kind: 'unfreeze', by: 'card' })).toBeNull();
  expect(frozenByAfter(frozen, { kind: 'close' })).toBeNull();
});

test('a card gets a new number unless it is closed or being rotated, and the refusal says why', () => {
  const card = (status: CardState['status'], replacedByCardId: string | null = null) => ({ status, replacedByCardId });
  for (const status of ['active', 'frozen'] as const) {
    expect(whyNotRotated(card(status), false)).toBeUndefined();
    expect(whyNotRotated(card(status), true)).toBe(
      'the card is being rotated: repeat the request that began it with its Idempotency-Key',
    );
  }
  expect(whyNotRotated(card('closed'), false)).toBe('cannot rotate a card that is closed: closed is final');
  expect(whyNotRotated(card('closed', 'card_b'), true)).toBe(
    'cannot rotate a card that is closed: card card_b has taken its place',
  );
});

test('the run issues first, then sends each difference to the processor, and ends only when the processor has confirmed the end', () => {
  for (const status of cardStatuses) {
    expect(nextCardStep({ status, syncedState: null })).toBe('issue');
    for (const syncedState of cardStatuses) {
      const expected = syncedState !== status ? 'sync' : status === 'closed' ? 'final' : 'wait';
      expect(nextCardStep({ status, syncedState })).toBe(expected);
    }
  }
});
