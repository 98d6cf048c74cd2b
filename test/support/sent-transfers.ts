/** Transfers that the bank may have, without a worker that sends them. @module */
import { lockBankTransfer } from '../../src/domains/treasury/transfers/bank-transfer.queries.ts';
import { inStage, saveSteps } from '../../src/domains/treasury/transfers/bank-transfer.service.ts';
import { inDatabase } from './payments-world.ts';
import type { World } from './world.ts';

/** As the worker leaves it that asks the bank. */
export async function markSending(world: World, id: string): Promise<void> {
  const at = new Date();
  const cause = { causeId: 'mark', requestId: 'test', actor: { kind: 'system' }, at } as const;
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      const before = await lockBankTransfer(tx, id);
      const after = inStage(before, 'sending', at, { sendingCause: 'test', sendUntil: at });
      await saveSteps(tx, [{ before, after, cause }]);
    }),
  );
}
