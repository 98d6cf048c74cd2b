/** Steps of a bank transfer that the worker runs, each a use case; each answers with the row as it is after it. @module */
import type { ApprovalLinks } from '../../src/domains/identity/approvals/approval-link.service.ts';
import type { Decision } from '../../src/domains/identity/approvals/decision.messages.ts';
import type { BankTransferRunView } from '../../src/domains/treasury/transfers/bank-transfer.messages.ts';
import { type BankTransfer, bankTransferOf } from '../../src/domains/treasury/transfers/bank-transfer.queries.ts';
import {
  type BankTransferDue,
  type BankTransferFact,
  bankTransferFacts,
} from '../../src/domains/treasury/transfers/bank-transfer.run.rules.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
import {
  askBank,
  checkTransferPayee,
  closeReturnWindow,
  recallTransfer,
  remindOfTransfer,
  sendPayment,
  submitMarked,
  type TransferStepDeps,
} from '../../src/usecases/treasury/bank-transfer-steps.ts';
import { decideBankTransfer, needsPasskey } from '../../src/usecases/treasury/decide-bank-transfer.ts';
import { causeOfDecision, type DecisionDeps } from '../lib/decisions.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = TransferStepDeps & DecisionDeps & { readonly links: ApprovalLinks };

export type BankTransferRun = RowState<BankTransferRunView, BankTransferFact, BankTransferDue>;

export const bankTransferActivities = (deps: Deps) => {
  const { database, clock, links } = deps;

  /** Read again after a step: the database counts the version, and version and facts must be of one state. */
  const runOf = async ({ id }: Pick<BankTransfer, 'id'>): Promise<BankTransferRun> => {
    const row = await bankTransferOf(database.read(), id);
    const facts = bankTransferFacts(row, { business: await clock.now(), real: new Date() });
    return { version: row.version, ...facts, view: await viewOf(row) };
  };

  const viewOf = async (row: BankTransfer): Promise<BankTransferRunView> => {
    const tx = database.read();
    const waits = row.stage === 'pending_approval';
    return {
      transferId: row.id,
      amountCents: row.amountCents,
      agentId: row.agentId,
      scheme: row.scheme,
      stage: row.stage,
      payeeCheck: row.payeeCheck,
      approvalRule: row.approvalRule,
      failureReason: row.failureReason,
      recallOutcome: row.recallOutcome,
      reminders: row.reminders,
      expiresAt: row.expiresAt?.toISOString() ?? null,
      returnWindowEndsAt: row.returnWindowEndsAt?.toISOString() ?? null,
      approvalUrl: waits ? ((await links.urlsOf(tx, [row.id])).get(row.id) ?? null) : null,
      needsPasskey: waits && (await needsPasskey(tx, row)),
    };
  };

  const step = (run: (id: string) => Promise<BankTransfer>) =>
    refusing(async (id: string): Promise<BankTransferRun> => runOf(await run(id)));
  const send = sendPayment(deps);
  const submit = submitMarked(deps);

  return {
    readBankTransfer: step((id) => bankTransferOf(database.read(), id)),
    checkTransferPayee: step(checkTransferPayee(deps)),

    decideBankTransfer: refusing(async (id: string, decision: Decision): Promise<BankTransferRun> => {
      const origin = () => bankTransferOf(database.read(), id);
      const cause = await causeOfDecision(deps, { noun: 'transfer', id, origin }, decision);
      const kind = decision.decision;
      return runOf(await database.write((tx) => decideBankTransfer(tx, { id }, { kind }, cause, { isOwnStep: true })));
    }),

    expireBankTransfer: step(async (id) => {
      const { requestId, runId } = await bankTransferOf(database.read(), id);
      const at = await clock.now();
      const cause = {
        causeId: 'deadline',
        requestId,
        runId: runId ?? undefined,
        actor: { kind: 'deadline' },
        at,
      } as const;
      return database.write((tx) => decideBankTransfer(tx, { id }, { kind: 'expire' }, cause, { isOwnStep: true }));
    }),

    // The attempt that marks also sends, so the run has nothing left to send.
    markTransferSending: refusing(async (id: string, causeId: string) => ({
      ...(await runOf(await send(id, causeId))),
      mayHaveSent: true,
    })),

    submitTransfer: refusing(
      async (id: string, causeId: string): Promise<BankTransferRun> => runOf(await submit(id, causeId)),
    ),

    askBank: step(askBank(deps)),
    remindOfTransfer: step(remindOfTransfer(deps)),
    recallTransfer: step(recallTransfer(deps)),
    closeReturnWindow: step(closeReturnWindow(deps)),
  };
};

export type BankTransferActivities = ReturnType<typeof bankTransferActivities>;
