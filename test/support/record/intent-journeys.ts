/** Histories of intents: decided by people, expired, and sent invalid signals. @module */
import { day, hour, minute } from '../../../src/kernel/instant.ts';
import type { Actors, Declared } from './actors.ts';
import { execute, intentRun, namesOf, of, reaches, shopUrl } from './purchase.ts';
import { type Journey, type Played, until } from './stage.ts';

const ended = (journey: string, workflowId: string): Played[] => [{ workflow: 'intentLifecycle', journey, workflowId }];

const approvedByUpdate: Journey = async (stage, actors) => {
  const declared = await actors.declare(80);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await actors.intents.approveIntent(of(declared));
  await stage.observe('intentLifecycle: approved', id, names);
  await execute(actors, declared, shopUrl(stage, 'sandbox-hotel', 8_000));
  await stage.observe('intentLifecycle: paid for', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: day + minute } }); // The hotel clears a day later.
  await reaches(actors, declared, 'completed');
  await stage.observe('intentLifecycle: completed', id, names);
  return ended('approved-by-update', id);
};

const approvedBySignal: Journey = async (stage, actors) => {
  const declared = await actors.declare(75);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await stage.signal(id, { decision: 'approve', by: 'anna' });
  await reaches(actors, declared, 'approved');
  await stage.signal(id, { decision: 'deny', by: 'anna' });
  await stage.observe('intentLifecycle: approved, then denied too late', id, names);
  await actors.intents.cancelIntent(of(declared));
  return ended('approved-by-signal', id);
};

const ignoredSignals: Journey = async (stage, actors) => {
  const declared = await actors.declare(85);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  for (const typed of ['please', { decision: 42 }, ['approve'], undefined]) await stage.signal(id, typed);
  await stage.observe('intentLifecycle: pending, signals ignored', id, names);
  await actors.intents.denyIntent(of(declared));
  await stage.observe('intentLifecycle: denied', id, names);
  return ended('ignored-signals', id);
};

const cancelled: Journey = async (stage, actors) => {
  const declared = await actors.declare(5);
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: approved at once', id, names);
  await actors.intents.cancelIntent(of(declared));
  await stage.observe('intentLifecycle: cancelled', id, names);
  return ended('cancelled', id);
};

const expired: Journey = async (stage, actors) => {
  const declared = await actors.declare(60, { ttlMinutes: 30 });
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: pending', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: 31 * minute } });
  await reaches(actors, declared, 'expired');
  await stage.observe('intentLifecycle: expired', id, names);
  return ended('expired', id);
};

/** Charged in its first window, let go by in the next ones, and cancelled. */
const recurring: Journey = async (stage, actors) => {
  const declared = await actors.declare(15, { recurring: { cadence: 'daily' } });
  const [id, names] = [intentRun(declared), namesOf(declared)];
  await stage.observe('intentLifecycle: recurring', id, names);
  await execute(actors, declared, shopUrl(stage, 'sandbox-shop', 1_500));
  await windowsAre(actors, declared, ['completed']);
  await stage.observe('intentLifecycle: recurring, paid for once', id, names);
  await actors.clock.advanceSandboxClock({ body: { ms: 2 * day + hour } });
  await windowsAre(actors, declared, ['missed', 'completed']);
  await stage.observe('intentLifecycle: recurring, a window missed', id, names);
  await actors.intents.cancelIntent(of(declared));
  await stage.observe('intentLifecycle: recurring, cancelled', id, names);
  return ended('recurring', id);
};

const windowsAre = ({ intents }: Actors, declared: Declared, statuses: readonly string[]) =>
  until(
    async () =>
      (await intents.listIntentWindows({ ...of(declared), query: {} })).data.map(({ status }): string => status),
    (found) => found.length >= statuses.length && statuses.every((status) => found.includes(status)),
    `windows to be ${statuses.join(', ')}`,
  );

export const intentJourneys: readonly Journey[] = [
  approvedByUpdate,
  approvedBySignal,
  ignoredSignals,
  cancelled,
  expired,
  recurring,
];
