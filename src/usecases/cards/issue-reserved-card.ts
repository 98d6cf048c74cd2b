/**
 * Waits until the processor has issued a reserved card. The reservation names the workflow run, so a repeat asks the
 * same run again.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { issueCard } from '../../domains/cards/cards/card.messages.ts';
import { type CardRecord, cardRecord } from '../../domains/cards/cards/card.queries.ts';
import type { PreparedCard } from '../../domains/cards/cards/card.reserve.service.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = { readonly database: Database; readonly gateway: Pick<WorkflowGateway, 'ask'> };

/** `whyNot`: the refusal for a card that was closed before it was issued. */
export const issueReservedCard =
  ({ database, gateway }: Deps) =>
  async ({ cardId, workflowId }: PreparedCard, whyNot: string, { causeId }: Cause): Promise<CardRecord> => {
    const before = await cardRecord(database.read(), cardId);
    if (before !== null) return before;
    await gateway.ask(workflowId, issueCard, {}, causeId);
    const card = await cardRecord(database.read(), cardId);
    if (card === null) throw new DomainError('invalid_state', whyNot);
    return card;
  };
