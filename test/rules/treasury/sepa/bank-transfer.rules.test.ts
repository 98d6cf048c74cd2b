/** The stages of a bank transfer, and what is around them: scheme, reference and reasons. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  afterPayeeCheck,
  bankMessageKinds,
  bankTransferCommands,
  bankTransferStages,
  bankTransferStatus,
  bankTransferStatuses,
  hearBank,
  isFinalStage,
  isNotKnownFinal,
  isRecallable,
  maySend,
  moveTransfer,
  postingsOf,
  recallAfter,
  recallOutcomes,
  requestTimeoutMs,
} from '../../../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import { endToEndIdOf, transferIdOf } from '../../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { isUsedFor, reasonCodes, reasonInWords } from '../../../../src/domains/treasury/sepa/reason-code.rules.ts';
import { chooseScheme, largestPaymentCents } from '../../../../src/domains/treasury/sepa/scheme.rules.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { cents } from '../../../../src/kernel/money.ts';

describe('commands', () => {
  test.each([
    ['a match', 'requested', afterPayeeCheck('match'), 'approved'],
    ['a close match', 'requested', afterPayeeCheck('close_match'), 'pending_approval'],
    ['no match', 'requested', afterPayeeCheck('no_match'), 'pending_approval'],
    ['no answer of the check', 'requested', afterPayeeCheck('not_possible'), 'pending_approval'],
    ['approved by a person', 'pending_approval', 'approve', 'approved'],
    ['denied', 'pending_approval', 'deny', 'denied'],
    ['no decision in time', 'pending_approval', 'expire', 'expired'],
    ['cancelled in time', 'approved', 'cancel', 'cancelled'],
    ['marked', 'approved', 'beginSending', 'sending'],
    ['not received', 'sending', 'noteNotReceived', 'rejected'],
    ['refused by the policy', 'requested', afterPayeeCheck('no_match', 'refuse'), 'rejected'],
    ['sent by the policy', 'requested', afterPayeeCheck('close_match', 'send'), 'approved'],
    ['a match, whatever the policy', 'requested', afterPayeeCheck('match', 'refuse'), 'approved'],
    ['screened again', 'approved', 'refusePayee', 'rejected'],
    ['cancelled during the check', 'requested', 'cancel', 'cancelled'],
    ['cancelled while a person is asked', 'pending_approval', 'cancel', 'cancelled'],
  ] as const)('%s', (_what, from, command, next) => {
    expect(moveTransfer(from, command, false)).toEqual({ outcome: 'moved', next });
    expect(moveTransfer(next, command, true)).toEqual({ outcome: 'already', next });
    expect(moveTransfer(next, command, false).outcome).toBe('refused');
  });

  test('what the bank may have is recalled instead of cancelled', () => {
    for (const stage of ['sending', 'submitted', 'accepted', 'settled'] as const) {
      const why = `cannot cancel a transfer that is ${stage}: it can be recalled`;
      expect(moveTransfer(stage, 'cancel', false)).toEqual({ outcome: 'refused', why });
      expect(isRecallable(stage)).toBe(true);
    }
    const why = 'cannot cancel a transfer that is rejected';
    expect(moveTransfer('rejected', 'cancel', false)).toEqual({ outcome: 'refused', why });
    expect(isRecallable('rejected')).toBe(false);
  });

  test('a transfer that has ended has no recall that is still to be requested', () => {
    for (const stage of bankTransferStages)
      for (const outcome of [...recallOutcomes, null]) {
        const ends = outcome === 'asking' && isFinalStage(stage);
        expect(recallAfter(stage, outcome)).toBe(ends ? (stage === 'recalled' ? 'requested' : 'ended') : outcome);
      }
  });

  test.each([
    ['acceptPayee', 'cannot accept the payee of a transfer that is denied'],
    ['requestApproval', 'cannot ask a person about a transfer that is denied'],
    ['approve', 'cannot approve a transfer that is denied'],
    ['deny', 'cannot deny a transfer that is denied'],
    ['expire', 'cannot expire a transfer that is denied'],
    ['cancel', 'cannot cancel a transfer that is denied'],
    ['refusePayee', 'cannot refuse the payee of a transfer that is denied'],
    ['beginSending', 'cannot send a transfer that is denied'],
    ['noteNotReceived', 'cannot give up a transfer that is denied'],
  ] as const)('%s after the end: %s', (command, why) => {
    expect(moveTransfer('denied', command, false)).toEqual({ outcome: 'refused', why });
  });

  test('no approval comes before the payee was checked', () => {
    expect(moveTransfer('requested', 'approve', false)).toMatchObject({ outcome: 'refused' });
  });
});

describe('the bank', () => {
  test('what it says of a transfer that was never sent moves nothing', () => {
    for (const stage of ['requested', 'pending_approval', 'approved', 'denied', 'expired', 'cancelled'] as const)
      for (const kind of bankMessageKinds) expect(hearBank(stage, kind, false).outcome).toBe('refused');
  });

  test.each([
    ['settled', 'rejected', 'rejected after it was settled'],
    ['rejected', 'settled', 'settled after it was rejected'],
    ['returned', 'returned', 'a second return'],
    ['returned', 'recalled', 'a return and a recall'],
  ] as const)('%s, then %s is a contradiction: %s', (stage, kind, _what) => {
    const why = `the bank says ${kind} of a transfer that is ${stage}`;
    expect(hearBank(stage, kind, false)).toEqual({ outcome: 'refused', why });
    expect(hearBank(stage, kind, true)).toEqual({ outcome: 'already', next: stage });
  });

  test('a rejection ends what is not settled, once, and reports that it overtook are old news', () => {
    for (const stage of ['sending', 'submitted', 'accepted'] as const)
      expect(hearBank(stage, 'rejected', false)).toEqual({ outcome: 'moved', next: 'rejected' });
    for (const kind of ['rejected', 'submitted', 'accepted'] as const)
      expect(hearBank('rejected', kind, false)).toEqual({ outcome: 'already', next: 'rejected' });
  });

  test('a status that it has reported, or that comes after a later one, is old news', () => {
    for (const [stage, kind] of [
      ['submitted', 'submitted'],
      ['accepted', 'submitted'],
      ['settled', 'settled'],
      ['recalled', 'settled'],
    ] as const)
      expect(hearBank(stage, kind, false)).toEqual({ outcome: 'already', next: stage });
  });

  test('only what it may have can be recalled', () => {
    expect(bankTransferStages.filter(isRecallable)).toEqual(['sending', 'submitted', 'accepted', 'settled']);
    const why = 'cannot approve a transfer that is sending';
    expect(moveTransfer('sending', 'approve', false)).toEqual({ outcome: 'refused', why });
  });

  test('a return that overtakes the debit books both', () => {
    expect(hearBank('accepted', 'returned', false)).toEqual({ outcome: 'moved', next: 'returned' });
    expect(postingsOf('accepted', 'returned')).toEqual(['pay', 'takeBack']);
    expect(hearBank('returned', 'settled', false)).toEqual({ outcome: 'already', next: 'returned' });
  });
});

test('each move that is allowed posts what its stages say, and a stage without money ahead is final', () => {
  for (const from of bankTransferStages) {
    const moves = [
      ...bankTransferCommands.map((command) => moveTransfer(from, command, false)),
      ...bankMessageKinds.map((kind) => hearBank(from, kind, false)),
    ].filter(({ outcome }) => outcome === 'moved');
    expect([from, moves.length === 0]).toEqual([from, isFinalStage(from)]);
    expect(bankTransferStatuses).toContain(bankTransferStatus(from));
  }
  expect(postingsOf('pending_approval', 'denied')).toEqual(['release']);
  expect(postingsOf('accepted', 'settled')).toEqual(['pay']);
  for (const stage of ['requested', 'approved', 'sending'] as const)
    expect(postingsOf(stage, 'rejected')).toEqual(['release']);
  expect(postingsOf('settled', 'recalled')).toEqual(['takeBack']);
  expect(postingsOf('submitted', 'accepted')).toEqual([]);
});

describe('sending', () => {
  const sendUntil = new Date('2026-11-21T12:00:10Z');
  const sending = { stage: 'sending', sendingCause: 'run/1', sendUntil } as const;
  const before = new Date(sendUntil.getTime() - 1);

  test('only the run that marked it sends, and only before the deadline', () => {
    expect(maySend(sending, 'run/1', before)).toBe(true);
    expect(maySend(sending, 'run/2', before)).toBe(false);
    expect(maySend(sending, 'run/1', sendUntil)).toBe(false);
    expect(maySend({ ...sending, stage: 'submitted' }, 'run/1', before)).toBe(false);
  });

  test('“not known” counts when no request can be on its way any more', () => {
    const over = sendUntil.getTime() + requestTimeoutMs;
    expect(isNotKnownFinal(sending, new Date(over - 1))).toBe(false);
    expect(isNotKnownFinal(sending, new Date(over))).toBe(true);
    expect(isNotKnownFinal({ sendUntil: null }, new Date(over))).toBe(false);
  });
});

describe('the scheme', () => {
  const rail = { offersInstant: true, largestInstantCents: cents(1_000_000) };
  test.each([
    ['instant where it is offered', undefined, 1, rail, { ok: true, scheme: 'instant' }],
    ['batch on request', 'batch', 1, rail, { ok: true, scheme: 'batch' }],
    ['instant up to the limit of the bank', undefined, 1_000_000, rail, { ok: true, scheme: 'instant' }],
    ['the largest payment', 'batch', largestPaymentCents, rail, { ok: true, scheme: 'batch' }],
    ['batch above the limit of the bank', undefined, 1_000_001, rail, { ok: true, scheme: 'batch' }],
    ['batch without instant', undefined, 1, { ...rail, offersInstant: false }, { ok: true, scheme: 'batch' }],
  ] as const)('%s', (_what, requested, amount, limits, choice) => {
    expect(chooseScheme(requested, cents(amount), limits)).toEqual(choice);
  });

  test.each([
    ['instant', 1_000_001, rail, 'an instant payment is of 10000.00 at most, not of 10000.01'],
    ['instant', 1, { ...rail, offersInstant: false }, 'the bank offers no instant payments'],
    ['batch', 0, rail, 'a SEPA payment is of 0.01 to 999999999.99, not of 0.00'],
    ['batch', largestPaymentCents + 1, rail, 'a SEPA payment is of 0.01 to 999999999.99, not of 1000000000.00'],
  ] as const)('%s for %d cents is refused', (requested, amount, limits, why) => {
    expect(chooseScheme(requested, cents(amount), limits)).toEqual({ ok: false, why });
  });
});

describe('the end-to-end id', () => {
  test('it leads back to the transfer, and fits the field', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = newId('transfer', bytes);
        expect(endToEndIdOf(id)).toMatch(/^TR[0-9A-Z]{26}$/);
        expect(transferIdOf(endToEndIdOf(id))).toBe(id);
      }),
    );
  });

  test.each(['NOTPROVIDED', 'TR', 'tr01kc1v9m3se7ttw5v1x0h2q8ab', 'TR01KC 1V9M3SE', 'RF18539007547034', ''])(
    '%j is of no transfer',
    (endToEndId) => {
      expect(transferIdOf(endToEndId)).toBeUndefined();
    },
  );
});

describe('reasons', () => {
  test('at least 25 codes have words, each another, and a use', () => {
    expect(reasonCodes.length).toBeGreaterThanOrEqual(25);
    expect(new Set(reasonCodes.map((code) => reasonInWords(code).slice(6))).size).toBe(reasonCodes.length);
    for (const code of reasonCodes) {
      expect(code).toMatch(/^[A-Z]{2}[A-Z0-9]{2}$/);
      expect(reasonInWords(code)).toMatch(/^[A-Z0-9]{4}: [a-z]/);
      expect(['rejection', 'return', 'recall', 'refusal'].some((use) => isUsedFor(code, use as 'return'))).toBe(true);
    }
  });

  test('rejections, returns, recalls and their refusals have the codes of the schemes', () => {
    for (const code of ['AC01', 'AC04', 'AC06', 'AG01', 'AM04', 'MS03', 'RC01'])
      expect(isUsedFor(code, 'rejection')).toBe(true);
    for (const code of ['AC01', 'AC04', 'AM05', 'BE04', 'MD07', 'MS02', 'MS03', 'RR04', 'FOCR'])
      expect(isUsedFor(code, 'return')).toBe(true);
    for (const code of ['CUST', 'DUPL', 'FRAD', 'TECH', 'AM09']) expect(isUsedFor(code, 'recall')).toBe(true);
    for (const code of ['AC04', 'AM04', 'ARDT', 'CUST', 'LEGL', 'NOAS', 'NOOR'])
      expect(isUsedFor(code, 'refusal')).toBe(true);
  });

  test('an unknown code is shown as it is', () => {
    expect(reasonInWords('AC04')).toBe('AC04: the account of the payee is closed');
    expect(reasonInWords('ZZ99')).toBe('ZZ99');
    expect(reasonInWords('constructor')).toBe('constructor');
    expect(isUsedFor('ZZ99', 'return')).toBe(false);
  });
});
