/** Faults in workflows and the relay that starts and wakes them. @module */
import { type Fault, faultsIn } from '../fault.ts';

const lib = ['test/workflows/lib/follow-row'];

export const workflowFaults: readonly Fault[] = [
  ...faultsIn('workflows', 'workflows/lib/follow-row.ts', lib, [
    {
      from: 'else if (wasFinal) await continueInNextRun(this.#id);',
      to: 'else if (wasFinal) return view;',
      harm: 'a record that is reopened while a message is carried out has no run until the rescue',
      named: 'a row that is reopened',
    },
    {
      from: 'this.#isStale = false; // Before the read, so that a wake during it is not lost.\n      this.#take(await this.#run.refresh(this.#id));',
      to: 'this.#take(await this.#run.refresh(this.#id));\n      this.#isStale = false;',
      harm: 'a wake that comes while the row is read is lost',
      named: 'a wake that comes while',
    },
    {
      from: 'if (this.#latest !== undefined && state.version < this.#latest.version) return;',
      to: '',
      harm: 'a late answer of an activity shows, and acts on, an older state',
      named: 'a late answer',
    },
    {
      from: 'maySend = !marked.mayHaveSent;',
      to: 'maySend = true;',
      harm: 'a payment that may have been sent is sent again',
      named: 'a history that becomes long',
    },
    {
      from: 'AttemptOptions = { isPartOfOnce: true, mayStayUnknown: true };',
      to: 'AttemptOptions = { isPartOfOnce: true };',
      harm: 'a sending without an answer fails the run instead of asking',
      named: 'a call without an answer',
    },
    {
      from: 'if (latest.final) throw rowIsFinal;',
      to: '',
      harm: 'the run of a denied transfer never ends',
      named: 'finds final',
    },
    {
      from: 'if (!hasChanged()) this.#isStale = true; // The time has passed.',
      to: '',
      harm: 'a deadline that passes is not acted on',
      named: 'lies ahead',
    },
    {
      from: 'return this.#oneDecisionAtATime(async () => {',
      to: 'return (async (work: () => Promise<View>) => work())(async () => {',
      harm: 'two decisions of one moment interleave',
      named: 'two decisions',
    },
  ]),
  ...faultsIn('workflows', 'workflows/lib/messages.ts', lib, [
    {
      from: "note(`${name} was refused: ${refusalIn(error) ?? 'it could not be carried out'}`);",
      to: 'throw error;',
      harm: 'a signal that cannot be carried out blocks its run for ever',
      named: 'a signal that is refused',
    },
    {
      from: 'const input = read(bounded(typed[0]));',
      to: 'const input = read(typed[0]);',
      harm: 'a signal of a megabyte is read, and kept in later steps',
      named: 'a signal that is refused',
    },
  ]),
  ...faultsIn('workflows', 'workflows/lib/steps.ts', lib, [
    {
      from: 'schedules nothing more.\n        return whileRepeated(() => untilDone(...input));',
      to: 'schedules nothing more.\n        throw error;',
      harm: 'a fault of PostgreSQL ends a run',
      named: 'a transaction that is repeated after a fault',
    },
  ]),
  ...faultsIn(
    'workflows',
    'workflows/treasury/bank-transfer.workflow.ts',
    ['test/workflows/treasury/bank-transfer'],
    [
      {
        from: "await wait('approved', { approval: expireBankTransfer });",
        to: "await wait('approved');",
        harm: 'a transfer that no person approves keeps its money for ever',
        named: 'is denied or cancelled while it waits',
      },
      {
        from: "await wait('settled', { askAgain: askBank, reminder: remindOfTransfer, recall: recallTransfer });",
        to: "await wait('settled', { reminder: remindOfTransfer, recall: recallTransfer });",
        harm: 'the bank is never asked about a transfer that it accepted',
        tests: ['test/workflows/treasury/silent-bank'],
      },
    ],
  ),
  ...faultsIn(
    'workflows',
    'workflows/payments/mpp-payment.workflow.ts',
    ['test/workflows/payments/mpp-payment.workflow'],
    [
      {
        from: "await wait('settled', { charge: recordMppCharge, silence: endMppSilence });",
        to: "await wait('settled', { charge: recordMppCharge });",
        harm: 'an unknown payment keeps its intent for ever',
        named: 'a run that is lost after the mark',
      },
      {
        from: 'whenDue: { answer: endMppPresentation },',
        to: 'whenDue: {},',
        harm: 'a merchant that never answers keeps the run waiting',
        named: 'what was marked by a lost run',
      },
    ],
  ),
  ...faultsIn(
    'workflows',
    'workflows/spending/intent-lifecycle.workflow.ts',
    ['test/workflows/spending/intent-lifecycle'],
    [
      {
        from: "await wait('decided', { deadline: expireIntent });",
        to: "await wait('decided');",
        harm: 'an intent that no person decides about never expires',
        named: 'a deadline that has passed',
      },
    ],
  ),
  ...faultsIn(
    'workflows',
    'src/relay/claims.ts',
    ['test/workflows/operator/relay-wakes'],
    [
      {
        from: 'where p.id = w.id and p.waking_until = w.lease and p.id in (',
        to: 'where p.id = w.id and p.id in (',
        harm: 'the confirmation of an old wake erases a new one',
      },
    ],
  ),
  ...faultsIn(
    'workflows',
    'src/temporal/gateway.ts',
    ['test/workflows/operator/start-notes'],
    [
      {
        from: 'noteAnswered(run, epoch);\n        return answer;',
        to: 'noteAnswered(run, await temporal.epoch());\n        return answer;',
        harm: 'a run that Temporal lost counts as started in the server that followed',
        named: 'ask: a run that a server lost',
      },
    ],
  ),
  ...faultsIn(
    'workflows',
    'src/temporal/connection.ts',
    ['test/platform/closed-temporal'],
    [
      {
        from: 'listener?.onReceiveMessage?.(null);\n',
        to: '',
        harm: 'a process that stops while it calls Temporal ends with an uncaught error',
        named: 'begins after the connection was closed',
      },
    ],
  ),
];
