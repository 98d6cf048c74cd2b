/**
 * Goal: the Temporal Web UI says what every run is about, and contains no secret and no personal
 * data. Method: every journey on a real world; each stage is read through Temporal's API and compared with one table;
 * then the whole of every history is looked through.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { runLists } from '../../../src/temporal/run-lists.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import type { History } from '../../support/history-json.ts';
import { type OpenTemporal, openTemporal, type RunView } from '../../support/operator-view.ts';
import { someone } from '../../support/record/actors.ts';
import { playJourneys, shownWorkflows } from '../../support/record/journeys.ts';
import { runOf } from '../../support/record/run-of.ts';
import { type ScriptedShop, startScriptedShop } from '../../support/record/scripted-shop.ts';
import type { Observe, Played, ShownStage } from '../../support/record/stage.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';
import { payloadStringsOf, textOf } from './history-text.ts';
import { patternOf } from './stage-pattern.ts';

const runs = await shownWorkflows();
/** By label: `intentLifecycle: expired`. */
const stages: Readonly<Record<string, ShownStage>> = Object.fromEntries(
  Object.entries(runs).flatMap(([workflow, shown]) =>
    Object.entries(shown.stages).map(([name, stage]) => [`${workflow}: ${name}`, stage]),
  ),
);

type Seen = {
  readonly label: string;
  readonly view: RunView;
  readonly names: Readonly<Record<string, string>>;
  /** The lists of `npm start` that had the run. */
  readonly lists: readonly string[];
};

let world: World;
let withoutProcessor: World;
let shop: ScriptedShop;
let temporal: OpenTemporal;
let played: Played[];
let ownerIds: string[];
const seen: Seen[] = [];
const histories = new Map<string, History>();

/**
 * Looks until the stage is as its description says. The half minute is only how long a stage that is wrong takes; what is
 * seen last is evaluated by the test.
 */
const observe: Observe = async (label, workflowId, names) => {
  await temporal.started(workflowId);
  let view = await temporal.viewOf(workflowId);
  for (let look = 0; look < 600 && !isAsSynced(label, view, names); look++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    view = await temporal.viewOf(workflowId);
  }
  const wanted = listsOf(label).join();
  const lists = await eventually(
    () => listsWith(workflowId),
    (found) => found.join() === wanted,
  ).catch(() => listsWith(workflowId));
  seen.push({ label, view, names, lists });
};

/** By what a person reads of the stage, and not by the attributes that the lists ask for. */
function listsOf(label: string): string[] {
  const { details = [], problem, stage = '', status = '' } = stages[label] ?? {};
  const isRunning = status === 'RUNNING';
  const isOf: Readonly<Record<string, boolean>> = {
    'needs a decision': isRunning && details.some((line) => /[Ww]aiting for a person to/.test(line)),
    retrying: isRunning && (problem === 'retrying' || label.startsWith('webhookEndpoint:')),
    stuck: false,
    'dead letters': stage === 'dead_letters',
  };
  return runLists.map(({ name }) => name).filter((name) => isOf[name]);
}

async function listsWith(workflowId: string): Promise<string[]> {
  const counts = runLists.map(async ({ name, query }) => {
    const { count } = await temporal.client.workflow.count(`${query} AND WorkflowId = '${workflowId}'`);
    return count > 0 ? [name] : [];
  });
  return (await Promise.all(counts)).flat();
}

function isAsSynced(label: string, view: RunView, names: Seen['names']): boolean {
  const row = stages[label];
  if (row === undefined) return true;
  return (
    view.attributes.BursarStage === row.stage &&
    view.attributes.BursarProblem === (row.problem ?? 'none') &&
    view.status === row.status &&
    patternOf(row.details.join('\n'), names).test(view.details)
  );
}

beforeAll(async () => {
  shop = await startScriptedShop();
  world = await startWorld({ worker: true, allowedOrigins: [shop.origin] });
  // With an address without a server, so that cards wait for their processor.
  withoutProcessor = await startWorld({ worker: true, env: { BURSAR_SANDBOX_URL: 'http://127.0.0.1:9' } });
  temporal = await openTemporal();
  const signal = (workflowId: string, input: unknown, name = 'decide') => temporal.signal(workflowId, name, input);
  played = await playJourneys({ ...world, shop, observe, signal, runOf: runOf(temporal.client) });
  await cardsThatWait();
  await simulationsWithoutCharge();
  for (const { view } of seen) histories.set(view.id, await temporal.historyOf(view.id));
  ownerIds = [...new Set(seen.map(({ view }) => String(view.attributes.BursarOwnerId)))];
}, 1_800_000);
afterAll(async () => {
  await temporal.close();
  await withoutProcessor.close();
  await world.close();
  await shop.close();
});

async function cardsThatWait(): Promise<void> {
  const owner = await withoutProcessor.owner();
  const asked = owner.client(agentsArea).createAgent({ body: { name: someone } });
  const refused = expect(asked).rejects.toMatchObject({ status: 503 });
  const [card] = await eventually(
    () => withoutProcessor.sql<{ id: string; agent_id: string }>('select id, agent_id from cards'),
    (cards) => cards.length === 1,
  );
  if (card === undefined) throw new Error('no card');
  await observe('cardLifecycle: issuing', `card/${card.id}`, { agent: card.agent_id, subject: card.id });
  const { agentId, cardId } = await anAgentWithCard(withoutProcessor, owner);
  await owner.client(agentsArea).freezeAgent({ params: { id: agentId } });
  const names = { agent: agentId, subject: cardId };
  await observe('cardLifecycle: frozen, the processor away', `card/${cardId}`, names);
  await refused;
}

/** One card is not of the network's processor, and one network is not there. */
async function simulationsWithoutCharge(): Promise<void> {
  for (const [label, place, status] of [
    ['simulation: refused', world, 400],
    ['simulation: waiting for the network', withoutProcessor, 503],
  ] as const) {
    const owner = await place.owner();
    const { agentId, cardId } = await anAgentWithCard(place, owner);
    const asked = owner
      .client(transactionsArea)
      .simulateTransaction({ body: { cardId, amountEuros: 12.5, merchant: someone } });
    const refused = expect(asked).rejects.toMatchObject({ status });
    const workflowId = await runOf(temporal.client)('simulation', agentId);
    await observe(label, workflowId, { agent: agentId, subject: workflowId.replace('simulation/', '') });
    await refused;
  }
}

test('every described stage was seen, and no other', () => {
  expect([...new Set(seen.map(({ label }) => label))].sort()).toEqual(Object.keys(stages).sort());
});

test('every workflow that there is has a file of journeys, which describes its stages', async () => {
  const workflows = Object.keys(await import('../../../workflows/index.ts'));
  expect(Object.keys(runs).sort()).toEqual(workflows.sort());
  const few = Object.entries(runs).filter(([, shown]) => Object.keys(shown.stages).length < 3);
  expect(few.map(([workflow]) => workflow)).toEqual([]);
});

describe.each(Object.entries(stages))('%s', (label, row) => {
  const type = label.split(':')[0] ?? '';
  const shown = runs[type];
  if (shown === undefined) throw new Error(`no file of journeys describes ${type}`);

  test('is read by its id, type, queue, summary, details and attributes', () => {
    const found = seen.filter((one) => one.label === label);
    expect(found).not.toEqual([]);
    for (const { view, names, lists } of found) {
      expect(lists).toEqual(listsOf(label));
      expect(view).toEqual({
        id: expect.stringMatching(patternOf(shown.id, names)),
        type,
        taskQueue: `${queuePrefixOf(view)}-${shown.queue}`,
        status: row.status,
        summary: expect.stringMatching(patternOf(shown.summary, names)),
        details: expect.stringMatching(patternOf(row.details.join('\n'), names)),
        attributes: {
          BursarOwnerId: expect.stringMatching(/^own_[a-z0-9]+$/),
          BursarSubjectId: names.subject,
          BursarStage: row.stage,
          BursarProblem: row.problem ?? 'none',
          ...amountOf(view),
          ...(shown.hasAgent ? { BursarAgentId: names.agent } : {}),
        },
      });
    }
  });
});

/** The summary begins with the amount of a run that has one: `80.00 EUR. …`. */
function amountOf({ summary }: RunView): { BursarAmountCents?: number } {
  const [, euros] = /^([\d.]+) EUR\. /.exec(summary ?? '') ?? [];
  return euros === undefined ? {} : { BursarAmountCents: Number(euros.replace('.', '')) };
}

const queuePrefixOf = ({ taskQueue }: RunView): string =>
  [world, withoutProcessor].map(({ config }) => config.BURSAR_TASK_QUEUE_PREFIX).find((p) => taskQueue.startsWith(p)) ??
  '';

test('open business is found by stage, as an operator searches', async () => {
  const [owner] = ownerIds;
  const found = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };
  const isExpiry = ({ workflow, journey }: Played) => workflow === 'intentLifecycle' && journey === 'expired';
  const expired = played.find(isExpiry)?.workflowId ?? '';
  const query = `WorkflowType = 'intentLifecycle' AND BursarOwnerId = '${owner}' AND BursarStage = 'expired' AND ExecutionStatus = 'Completed'`;
  await eventually(
    () => found(query),
    (ids) => ids.length > 0,
  );
  expect(await found(query)).toEqual([expired]);
});

/** The link shows and denies one intent, which a reader of the run may do anyway; it approves nothing. */
const approversLink = /http:\/\/localhost:\d+\/approve\/[0-9a-f]{32}/g;

const anyId = '[a-z]+_[a-z0-9]+';

describe('the content of histories', () => {
  test('ids, amounts, states and codes only, and the input of approvers', () => {
    const fit = [
      /^[a-z]+_[a-z0-9]{8,64}$/, // an id
      /^(signal|call|key|checkout|deadline|agent):[\w:./-]+$/, // a cause, an actor
      /^[a-z-]+\/[a-z]+_[a-z0-9]{8,64}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[a-z]+$/, // the cause of a call that is made once
      /^[a-z][A-Za-z_]{0,40}$/, // a field, a state, a code
      /^[a-z_]+\.[a-z_.]+$/, // an event
      /^(rejected|returned|recalled):[A-Z0-9]{4}$/, // why a transfer brought no money, with the bank's code
      /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, // a request
      ...Object.values(runs).map(({ summary }) => patternOf(summary, { agent: anyId, subject: anyId })),
      /^[a-z-]+ed$/, // a stage
      /^[A-Z][a-z]+ing [a-z ,]{3,80}$/, // the summary of a step
      /^until [A-Za-z ]{3,40}$/, // the summary of a timer
      /^[A-Z]{2}$/, // a country
      /^\d{1,4}$/, // which of the run's steps it is
      new RegExp(`^${approversLink.source}$`),
      /^eyJ[\w-]+\.\.[\w-]{16}\.[\w-]{91}\.[\w-]{22}$/, // the API's seal: over a moment and the 43 characters of a hash, no more
    ];
    const typed = ['anna', 'signal:anna', 'whd_1', 'not-paid'];
    const unfit = [...histories.values()]
      .flatMap(payloadStringsOf)
      .filter((text) => !typed.includes(text) && !fit.some((form) => form.test(text)));
    expect([...new Set(unfit)]).toEqual([]);
  });

  test('no secret, no address but the approver’s link, no name and no purpose, anywhere in them', () => {
    const kept = [
      ...[world, withoutProcessor].flatMap(({ dashboardSecret, networkKey, sandboxUrl }) => [
        dashboardSecret,
        networkKey,
        sandboxUrl,
      ]),
      ...[someone, 'Erika', shop.origin, '://', 'a thing', 'buyer of', 'rules of'],
      ...['sk_sandbox_', 'at_test_', 'whsec_', 'spt_', 'Bearer', 'Scripted Shop', 'Sandbox Shop'],
    ];
    const found = [...histories].flatMap(([id, history]) => {
      // Stack traces of activities name the worker's own files.
      const text = textOf(history).replaceAll(approversLink, '').replaceAll('file:///', '/');
      return kept.filter((word) => text.includes(word)).map((word) => `${id}: ${word}`);
    });
    expect(found).toEqual([]);
    expect(histories.size).toBeGreaterThan(12);
  });

  test('failures of activities name no address either', () => {
    const failed = [...histories.values()].flatMap(({ events }) =>
      (events ?? []).flatMap((event) => {
        const { activityTaskStartedEventAttributes: task, markerRecordedEventAttributes: marker } = event;
        return [task?.lastFailure, marker?.failure].flatMap((failure) =>
          failure == null ? [] : [failure.message ?? ''],
        );
      }),
    );
    for (const message of failed) expect(message).not.toMatch(/:\/\/|127\.0\.0\.1|\bat .*\.ts/);
  });
});
