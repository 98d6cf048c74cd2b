/**
 * `bursar network messages` lists what the card network sent and an operator has to settle: it contradicts its
 * authorization, or its card is unknown. `assign` books one of them on its payment after all, `dismiss` decides that it is
 * not. Exit code 1: it could not be settled so.
 * @module
 */
import type { Database } from '../db/database.ts';
import { unbookedMessages } from '../domains/payments/network/unbooked-message.service.ts';
import { DomainError } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { centsFromEuros, inWords } from '../kernel/money.ts';
import { type Assignment, assignMessage, dismissMessage } from '../usecases/payments/settle-unbooked-message.ts';
import { ofCommand } from './change-keys.ts';

type Say = (text: string) => unknown;
type Run = (database: Database, say: Say) => Promise<number>;

/** Undefined: not a command, so that the usage is shown. */
export function networkCommand([verb, name, reason, ...more]: readonly string[]): Run | undefined {
  if (verb === 'messages' && name === undefined) return listMessages;
  const message = name === undefined ? undefined : messageNamed(name);
  if (message === undefined || reason === undefined || reason.trim() === '' || reason.length > 500) return undefined;
  if (verb === 'dismiss' && more.length === 0) {
    return refusing(async (database, say) => {
      const isNew = await dismissMessage({ database })({ message, reason }, await ofCommand(database));
      say(
        isNew
          ? `dismissed ${name}: it is booked on no payment\n`
          : `${name} was dismissed before; nothing was changed\n`,
      );
      return 0;
    });
  }
  const given = amountAndCard(more);
  if (verb !== 'assign' || given === undefined) return undefined;
  return refusing(async (database, say) => {
    const assignment = { message, reason, ...given };
    const { transactionId, isNew } = await assignMessage({ database })(assignment, await ofCommand(database));
    say(
      isNew ? `booked ${name} on ${transactionId}\n` : `${name} is booked on ${transactionId}; nothing was changed\n`,
    );
    return 0;
  });
}

/** As people write it: an empty one is no amount, and `Number` would make 0 of it. */
const isAmount = /^\d{1,9}(\.\d{1,2})?$/;

/** Either, both in this order, or none. */
function amountAndCard(texts: readonly string[]): Pick<Assignment, 'amountCents' | 'cardId'> | undefined {
  const [amount, ...others] = isAmount.test(texts[0] ?? '') ? texts : [undefined, ...texts];
  const [cardId, ...more] = others;
  if (more.length > 0 || (cardId !== undefined && !isId('card', cardId))) return undefined;
  return {
    ...(amount !== undefined && { amountCents: centsFromEuros(Number(amount)) }),
    ...(cardId !== undefined && { cardId }),
  };
}

/** `clearing/clr_1`, or `sandbox/clearing/clr_1` where several networks have that id. */
function messageNamed(name: string): { adapter?: string; kind: string; id: string } | undefined {
  const [id, kind, adapter, ...more] = name.split('/').reverse();
  if (id === undefined || kind === undefined || id === '' || kind === '' || more.length > 0) return undefined;
  return adapter === undefined ? { kind, id } : { adapter, kind, id };
}

const listMessages: Run = async (database, say) => {
  const found = await unbookedMessages(database.read());
  for (const {
    adapter,
    kind,
    id,
    reason,
    cardRef,
    amountCents,
    currency,
    authorizationId,
    transactionId,
    receivedAt,
  } of found) {
    const amount = amountCents === null ? 'all that is left' : `${inWords(amountCents)} ${currency}`;
    const of = transactionId ?? authorizationId ?? 'no authorization';
    say(
      `${adapter}/${kind}/${id}: ${reason}, ${amount}, card ${cardRef}, of ${of}, received ${receivedAt.toISOString()}\n`,
    );
  }
  say(found.length === 0 ? 'no message of the network waits for an operator\n' : `${found.length} messages wait\n`);
  return 0;
};

const refusing =
  (run: Run): Run =>
  async (database, say) => {
    try {
      return await run(database, say);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      say(`${error.message}\n`);
      return 1;
    }
  };
