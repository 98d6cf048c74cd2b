/** Steps of a split that the worker runs, each a use case; each answers with the split as it is after it. @module */
import type { Database } from '../../src/db/database.ts';
import type { ApprovalLinks } from '../../src/domains/identity/approvals/approval-link.service.ts';
import type { Decision } from '../../src/domains/identity/approvals/decision.messages.ts';
import { findAnySplit, type SplitView } from '../../src/domains/treasury/transfers/transfer.queries.ts';
import type { SplitRunView } from '../../src/domains/treasury/transfers/transfer-split.messages.ts';
import {
  approvalEnds,
  arrived,
  linesThatWait,
  returnWindowsEnd,
  type SplitFact,
  splitFacts,
  splitOpenness,
  splitStage,
} from '../../src/domains/treasury/transfers/transfer-split.rules.ts';
import { notFound } from '../../src/kernel/errors.ts';
import { isoOrNull } from '../../src/kernel/instant.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
import { needsPasskey } from '../../src/usecases/treasury/decide-bank-transfer.ts';
import { decideTransferSplit, splitNoun } from '../../src/usecases/treasury/decide-transfer-split.ts';
import { causeOfDecision, type DecisionDeps } from '../lib/decisions.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = DecisionDeps & { readonly database: Database; readonly links: ApprovalLinks };

export type TransferSplitRun = RowState<SplitRunView, SplitFact>;

export const transferSplitActivities = (deps: Deps) => {
  const { database, links } = deps;

  const splitOfId = async (id: string): Promise<SplitView> => {
    const found = await findAnySplit(database.read(), id);
    if (found === null) throw notFound('transfer split', id);
    return found;
  };

  const runOf = async (id: string): Promise<TransferSplitRun> => {
    const split = await splitOfId(id);
    return { version: split.version, ...splitFacts(split.transfers), view: await viewOf(split) };
  };

  const viewOf = async (split: SplitView): Promise<SplitRunView> => {
    const lines = split.transfers;
    const stage = splitStage(lines);
    const waits = stage === 'pending_approval';
    const there = arrived(lines);
    const decidable = { ...split, lines };
    return {
      splitId: split.id,
      amountCents: split.totalAmountCents,
      agentId: split.agentId,
      stage,
      lines: lines.length,
      walletLines: lines.filter(({ type }) => type === 'internal').length,
      waitingLines: linesThatWait(lines),
      completedLines: there.lines,
      completedCents: there.amountCents,
      openness: {
        approve: splitOpenness(decidable, 'approve'),
        deny: splitOpenness(decidable, 'deny'),
        cancel: splitOpenness(decidable, 'cancel'),
      },
      expiresAt: isoOrNull(approvalEnds(lines)),
      returnWindowsEndAt: isoOrNull(returnWindowsEnd(lines)),
      approvalUrl: waits ? ((await links.urlsOf(database.read(), [split.id])).get(split.id) ?? null) : null,
      needsPasskey: waits && (await needsPasskey(database.read(), split)),
    };
  };

  return {
    readTransferSplit: refusing(runOf),

    decideTransferSplit: refusing(async (id: string, decision: Decision): Promise<TransferSplitRun> => {
      const cause = await causeOfDecision(deps, { noun: splitNoun, id, origin: () => splitOfId(id) }, decision);
      await database.write((tx) => decideTransferSplit(tx, { id }, { kind: decision.decision }, cause));
      return runOf(id);
    }),
  };
};

export type TransferSplitActivities = ReturnType<typeof transferSplitActivities>;
