/**
 * The files of a new area, as text. The generated area stores notes that expire or are cancelled, a complete small
 * example to replace step by step. Its tests fail with a message that names the next step.
 * @module
 */
import { withArticle } from '../kernel/nouns.ts';
import type { AreaNames } from './area-names.ts';

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

type Template = (names: AreaNames) => string;

const rules: Template = ({
  words,
  camel,
  pascal,
}) => `/** The states of ${withArticle(words)}, the command that moves each, and what its workflow waits for. Pure. @module */
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';

export const ${camel}Statuses = ['open', 'cancelled', 'expired'] as const;
export type ${pascal}Status = (typeof ${camel}Statuses)[number];

export const ${camel}Commands = ['cancel', 'expire'] as const;
export type ${pascal}Command = (typeof ${camel}Commands)[number];

const leadsTo = { cancel: 'cancelled', expire: 'expired' } as const satisfies Record<${pascal}Command, ${pascal}Status>;

export const isFinal${pascal} = (status: ${pascal}Status): boolean => status !== 'open';

/** \`seen\`: the same cause has moved the row before. Cancelling a cancelled ${words} changes nothing. */
export function move${pascal}(from: ${pascal}Status, command: ${pascal}Command, seen: boolean): Move<${pascal}Status> {
  const next = leadsTo[command];
  if (seen || from === next) return { outcome: 'already', next: from };
  if (isFinal${pascal}(from)) return { outcome: 'refused', why: \`cannot \${command} ${withArticle(words)} that is \${from}\` };
  return { outcome: 'moved', next };
}

/** What the workflow of ${withArticle(words)} waits for, and the due time at which it acts. */
export type ${pascal}Fact = 'ended';
export type ${pascal}Due = 'expiry';

type Expiring = { readonly status: ${pascal}Status; readonly expiresAt: Date };

/** The facts that ${withArticle(words)} has reached, and its due times. */
export function ${camel}Facts(
  { status, expiresAt }: Expiring,
  now: Date,
): Pick<RowState<never, ${pascal}Fact, ${pascal}Due>, 'final' | 'reached' | 'dueInMs'> {
  if (isFinal${pascal}(status)) return { final: true, reached: ['ended'], dueInMs: {} };
  return { final: false, reached: [], dueInMs: { expiry: expiresAt.getTime() - now.getTime() } };
}
`;

const messages: Template = ({
  words,
  camel,
  pascal,
  noun,
}) => `/** The workflow of ${withArticle(words)}: its id, its type, and what it reads of the row. @module */
import type { Id } from '../../../kernel/ids.ts';
import type { ${pascal}Status } from './${noun}.rules.ts';

export const ${camel}Workflow = '${camel}Lifecycle';
export const ${camel}WorkflowId = (id: Id<'${camel}'>): string => \`${noun}/\${id}\`;

export type ${pascal}View = {
  readonly id: Id<'${camel}'>;
  readonly status: ${pascal}Status;
  /** ISO 8601, business time. */
  readonly expiresAt: string;
};
`;

const contract: Template = ({
  words,
  camel,
  pascal,
  pascalPlural,
  plural,
  noun,
  area,
  tag,
  snake,
}) => `/** The ${words} operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, prose } from '../../../http/schemas.ts';
import { ${camel}Statuses } from './${noun}.rules.ts';

const ${camel}Out = z
  .strictObject({
    id: idOut('${camel}'),
    ownerId: idOut('owner'),
    note: z.string().meta({ description: 'The note, as it was given.', examples: ['for the team'] }),
    status: z.enum(${camel}Statuses).meta({ description: 'The state of the ${words}.', examples: ['open'] }),
    expiresAt: instantOut.meta({ description: 'When an open ${words} expires, in business time.' }),
    createdAt: instantOut.meta({ description: 'When the ${words} was created, in business time.' }),
  })
  .meta({ id: '${pascal}', description: '${capital(withArticle(words))}.' });
export type ${pascal}Wire = z.infer<typeof ${camel}Out>;

const creation = z
  .strictObject({
    note: prose(500).meta({ description: 'A note.', examples: ['for the team'] }),
    ttlMinutes: z
      .number()
      .int()
      .min(1)
      .max(525_600)
      .default(60)
      .meta({ description: 'Minutes of business time until the ${words} expires.', examples: [60] }),
  })
  .meta({ id: 'Create${pascal}' });
export type ${pascal}Body = z.output<typeof creation>;

const one = z.strictObject({ id: id('${camel}') });

export const ${plural}Area = defineArea({
  tag: '${tag}',
  base: '/${area}',
  aliases: [],
  description: 'Notes that expire or are cancelled.',
  operations: {
    create${pascal}: {
      method: 'post',
      path: '',
      summary: 'Create ${withArticle(words)}',
      auth: ['key'],
      body: creation,
      success: { status: 201, body: ${camel}Out },
      refusals: ['invalid_state'],
      fires: ['${snake}.created'],
    },
    list${pascalPlural}: {
      method: 'get',
      path: '',
      summary: 'List the ${words} records, newest first',
      auth: ['key'],
      query: z.strictObject(pageQuery('${camel}')),
      success: { status: 200, body: pageOut(${camel}Out) },
      refusals: [],
    },
    get${pascal}: {
      method: 'get',
      path: '/{id}',
      summary: 'Get ${withArticle(words)}',
      auth: ['key'],
      params: one,
      success: { status: 200, body: ${camel}Out },
      refusals: ['not_found'],
    },
    cancel${pascal}: {
      method: 'post',
      path: '/{id}/cancel',
      summary: 'Cancel an open ${words}',
      auth: ['key'],
      params: one,
      success: { status: 200, body: ${camel}Out },
      refusals: ['invalid_state', 'not_found'],
      fires: ['${snake}.cancelled'],
    },
  },
});
`;

const shapes: Template = ({
  words,
  camel,
  pascal,
}) => `/** The \`data\` of the events of ${withArticle(words)}. @module */
import { code, id, instant, named } from '../fields.ts';

export const ${camel}Data = named('${pascal}EventData', {
  id: id('${camel}'),
  ownerId: id('owner'),
  status: code,
  expiresAt: instant,
  createdAt: instant,
});
`;

const entity: Template = ({
  words,
  camel,
  pascal,
  table,
  noun,
}) => `/** The ${table} table. Persistence only: no rule of ${withArticle(words)} is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { ${pascal}Status } from './${noun}.rules.ts';

export const ${pascal}Schema = defineEntity({
  name: '${pascal}',
  tableName: '${table}',
  properties: {
    id: p.string().primary().$type<Id<'${camel}'>>(),
    ownerId: p.string(),
    note: p.string(),
    status: p.string().$type<${pascal}Status>(),
    requestId: p.string(),
    expiresAt: p.datetime(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class ${pascal}Row extends ${pascal}Schema.class {}
${pascal}Schema.setClass(${pascal}Row);

declare module '../../../db/tables.ts' {
  interface Tables {
    ${table}: TableOf<typeof ${pascal}Schema>;
  }
}
`;

const queries: Template = ({
  words,
  pascal,
  pascalPlural,
  plural,
  table,
  noun,
  camel,
}) => `/** Reads of ${withArticle(words)}: one record, and pages of an owner. @module */
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { ${pascal}Row, ${pascal}Schema } from './${noun}.entity.ts';

export const find${pascal} = (tx: Tx, id: Id<'${camel}'>): Promise<${pascal}Row | null> => tx.findOne(${pascal}Row, { id });

const ${plural} = list(
  (from, given: Filters<{ ownerId: string }>) =>
    from.selectFrom('${table}').select(columnsOf(${pascal}Schema)).where('ownerId', '=', given('ownerId')),
  newestFirst('${table}'),
);

/** Newest first. */
export const list${pascalPlural} = (tx: Tx, ownerId: string, pageQuery: PageQuery): Promise<Page<${pascal}Row>> =>
  page(tx, ${plural}, { ownerId }, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly ${camel}: ${pascal}Row;
  }
}
`;

const wire: Template = ({
  words,
  pascal,
  camel,
  noun,
}) => `/** ${capital(withArticle(words))} as callers, subscribers and the workflow see it. Shapes only. @module */
import type { ${pascal}Wire } from './${noun}.contract.ts';
import type { ${pascal}Row } from './${noun}.entity.ts';
import type { ${pascal}View } from './${noun}.messages.ts';

export const ${camel}Wire = (row: ${pascal}Row): ${pascal}Wire => ({ ...${camel}Data(row), note: row.note });

/** For events, which never carry free text. */
export const ${camel}Data = ({ id, ownerId, status, expiresAt, createdAt }: ${pascal}Row) => ({
  id,
  ownerId,
  status,
  expiresAt: expiresAt.toISOString(),
  createdAt: createdAt.toISOString(),
});

export const ${camel}View = ({ id, status, expiresAt }: ${pascal}Row): ${pascal}View => ({
  id,
  status,
  expiresAt: expiresAt.toISOString(),
});
`;

const service: Template = ({
  words,
  pascal,
  camel,
  noun,
  snake,
  table,
}) => `/** Writes of ${withArticle(words)}, each with its event and audit row in the caller's transaction. @module */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { later, minute } from '../../../kernel/instant.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, openWorkflowRun } from '../../../platform/workflow-runs.ts';
import type { ${pascal}Body } from './${noun}.contract.ts';
import { ${pascal}Row } from './${noun}.entity.ts';
import { ${camel}Workflow, ${camel}WorkflowId } from './${noun}.messages.ts';
import { find${pascal} } from './${noun}.queries.ts';
import { type ${pascal}Command, move${pascal} } from './${noun}.rules.ts';
import { ${camel}Data } from './${noun}.wire.ts';

type New${pascal} = { readonly id: Id<'${camel}'>; readonly ownerId: string; readonly body: ${pascal}Body };

/** A repeat with the same id finds the first record. */
export async function create${pascal}(tx: Tx, { id, ownerId, body }: New${pascal}, cause: Cause): Promise<${pascal}Row> {
  const known = await find${pascal}(tx, id);
  if (known !== null) return known;
  await assertBelowLimit(tx, '${table}', { ownerId, subject: ownerId, at: cause.at });
  const expiresAt = later(cause.at, body.ttlMinutes * minute);
  const row = tx.create(${pascal}Row, {
    id,
    ownerId,
    note: body.note,
    status: 'open',
    requestId: cause.requestId,
    expiresAt,
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await tx.flush();
  await recordTransition(tx, '${snake}', id, { from: null, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, '${snake}.created')]);
  await openWorkflowRun(tx, {
    id: ${camel}WorkflowId(id),
    workflow: ${camel}Workflow,
    subjectId: id,
    ownerId,
    agentId: null,
    stage: row.status,
    dueAt: expiresAt,
    at: cause.at,
  });
  return row;
}

const eventOf = { cancel: '${snake}.cancelled', expire: '${snake}.expired' } as const;

/** For a caller, who names the record by a checked id. */
export const cancel${pascal} = (
  tx: Tx,
  { id, ownerId }: { readonly id: ReachedId<'${camel}'>; readonly ownerId: string },
  cause: Cause,
): Promise<${pascal}Row> => applyTo${pascal}(tx, { id, ownerId, command: 'cancel' }, cause);

/** \`isOwnStep\`: the workflow of the record makes the change, and needs no wake. It names no owner. */
export type ${pascal}Change = {
  readonly id: Id<'${camel}'>;
  readonly ownerId?: string;
  readonly command: ${pascal}Command;
  readonly isOwnStep?: boolean;
};

export async function applyTo${pascal}(
  tx: Tx,
  { id, ownerId, command, isOwnStep = false }: ${pascal}Change,
  cause: Cause,
): Promise<${pascal}Row> {
  const wanted = { id, ...(ownerId !== undefined && { ownerId }) };
  const row = await tx.findOne(${pascal}Row, wanted, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (row === null) throw notFound('${words}', id);
  const move = move${pascal}(row.status, command, await hasMoved(tx, '${snake}', id, cause.causeId));
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already') return row;
  const from = row.status;
  row.status = move.next;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordTransition(tx, '${snake}', id, { from, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, eventOf[command])]);
  await closeWorkflowRun(tx, ${camel}WorkflowId(id), { isOwnStep });
  return row;
}

type ${pascal}Event = '${snake}.created' | (typeof eventOf)[${pascal}Command];

const changeOf = (row: ${pascal}Row, event: ${pascal}Event) => ({
  event,
  ownerId: row.ownerId,
  subjectId: row.id,
  data: ${camel}Data(row),
});
`;

const routes: Template = ({
  words,
  pascal,
  pascalPlural,
  plural,
  camel,
  noun,
}) => `/** Answers the ${words} operations: call the service, shape the answer. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { ${plural}Area } from './${noun}.contract.ts';
import { list${pascalPlural} } from './${noun}.queries.ts';
import { cancel${pascal}, create${pascal} } from './${noun}.service.ts';
import { ${camel}Wire } from './${noun}.wire.ts';

export const ${camel}Handlers = ({ database }: { readonly database: Database }): Handlers<typeof ${plural}Area> => ({
  create${pascal}: async ({ body, own: { ownerId } }, call) => {
    const wanted = { id: call.newId('${camel}'), ownerId, body };
    return ${camel}Wire(await inTransaction({ database }, call, (tx, cause) => create${pascal}(tx, wanted, cause)));
  },

  list${pascalPlural}: async ({ query, own }) =>
    mapPage(await list${pascalPlural}(database.read(), own.ownerId, pageOfQuery(query)), ${camel}Wire),

  get${pascal}: async ({ records }) => ${camel}Wire(records.${camel}),

  cancel${pascal}: async ({ params: { id }, own: { ownerId } }, call) =>
    ${camel}Wire(await inTransaction({ database }, call, (tx, cause) => cancel${pascal}(tx, { id, ownerId }, cause))),
});
`;

const activities: Template = ({
  words,
  pascal,
  camel,
  noun,
  domain,
  area,
}) => `/** Steps of the workflow of ${withArticle(words)}: read the row, and expire it. Each is safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { ${pascal}Row } from '../../src/domains/${domain}/${area}/${noun}.entity.ts';
import type { ${pascal}View } from '../../src/domains/${domain}/${area}/${noun}.messages.ts';
import { find${pascal} } from '../../src/domains/${domain}/${area}/${noun}.queries.ts';
import { type ${pascal}Due, type ${pascal}Fact, ${camel}Facts } from '../../src/domains/${domain}/${area}/${noun}.rules.ts';
import { applyTo${pascal} } from '../../src/domains/${domain}/${area}/${noun}.service.ts';
import { ${camel}View } from '../../src/domains/${domain}/${area}/${noun}.wire.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = { readonly database: Database; readonly clock: Clock };

/** Each activity answers with the row as it is after it, so that the run need not read it again. */
export type ${pascal}State = RowState<${pascal}View, ${pascal}Fact, ${pascal}Due>;

export const ${camel}Activities = ({ database, clock }: Deps) => {
  const stateOf = async (row: ${pascal}Row): Promise<${pascal}State> => ({
    version: row.version,
    ...${camel}Facts(row, await clock.now()),
    view: ${camel}View(row),
  });

  return {
    read${pascal}: refusing(async (id: string): Promise<${pascal}State> => {
      const row = await find${pascal}(database.read(), id as Id<'${camel}'>);
      if (row === null) throw notFound('${words}', id);
      return stateOf(row);
    }),

    expire${pascal}: refusing(async (id: string): Promise<${pascal}State> => {
      const causeId = \`expiry:\${id}\`;
      const cause = { causeId, requestId: causeId, actor: { kind: 'deadline' }, at: await clock.now() } as const;
      const change = { id: id as Id<'${camel}'>, command: 'expire', isOwnStep: true } as const;
      return stateOf(await database.write((tx) => applyTo${pascal}(tx, change, cause)));
    }),
  };
};

export type ${pascal}Activities = ReturnType<typeof ${camel}Activities>;
`;

const workflow: Template = ({
  words,
  pascal,
  camel,
  noun,
  domain,
  area,
}) => `/** One ${words}: waits until it expires or is cancelled. A lost run is started again from the row. @module */
import type { ${pascal}Activities } from '../../activities/${domain}/${noun}.activities.ts';
import type { ${pascal}View } from '../../src/domains/${domain}/${area}/${noun}.messages.ts';
import type { ${pascal}Due, ${pascal}Fact } from '../../src/domains/${domain}/${area}/${noun}.rules.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { databaseSteps } from '../lib/steps.ts';

const { read${pascal}, expire${pascal} } = databaseSteps<${pascal}Activities>()({
  read${pascal}: 'Reading the ${words}',
  expire${pascal}: 'Expiring the ${words}',
});

const ${camel}Run: FollowedRun<${pascal}View, ${pascal}Fact, ${pascal}Due> = {
  refresh: read${pascal},
  stage: ({ status }) => status,
  describe: ({ id }) => \`The ${words} \${id}\`,
  waitingFor: { ended: ({ expiresAt }) => \`Waiting until \${expiresAt} of business time, then it expires.\` },
  outcome: ({ status }) => status,
};

export const ${camel}Lifecycle = (input: RunInput): Promise<${pascal}View> =>
  followRow(${camel}Run, input, ({ wait }) => wait('ended', { expiry: expire${pascal} }));
`;

const migration: Template = ({
  table,
  words,
}) => `-- ${capital(withArticle(words))} of an owner: a note that expires or is cancelled.
create table ${table} (
  id text primary key,
  owner_id text not null,
  note text not null check (length(note) <= 500),
  status text not null check (status in ('open', 'cancelled', 'expired')),
  request_id text not null,
  expires_at timestamptz not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create trigger ${table}_version before update on ${table} for each row execute function count_version();
create index ${table}_owner on ${table} (owner_id, created_at desc, id desc);
`;

const samples: Template = ({
  words,
  pascal,
  pascalPlural,
  plural,
  camel,
  noun,
  domain,
  area,
}) => `/** Sample calls and records of ${withArticle(words)}, for the suites that cover all operations. @module */
import { ${plural}Area } from '../../../src/domains/${domain}/${area}/${noun}.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const new${pascal} = async (one: Sampler): Promise<string> =>
  (await one.client(${plural}Area).create${pascal}({ body: { note: 'a sample' } })).id;
const the${pascal} = (one: Sampler): Promise<string> => one.the(new${pascal});

export const samples = samplesOf(${plural}Area, {
  ids: { id: the${pascal} },
  calls: (one) => ({
    create${pascal}: () => ({ body: { note: 'a sample', ttlMinutes: 60 } }),
    list${pascalPlural}: async () => {
      await the${pascal}(one);
      return {};
    },
    get${pascal}: async () => ({ path: { id: await the${pascal}(one) } }),
    cancel${pascal}: async () => ({ path: { id: await new${pascal}(one) } }),
  }),
});

/** The ${camel} that the suites read. */
export { the${pascal} };
`;

const rulesTest: Template = ({
  words,
  pascal,
  camel,
  noun,
  domain,
  area,
}) => `/** Goal: ${withArticle(words)} changes state by its rules only. Method: every state with every command. @module */
import { expect, test } from '@jest/globals';
import {
  ${camel}Commands,
  ${camel}Statuses,
  isFinal${pascal},
  move${pascal},
} from '../../../src/domains/${domain}/${area}/${noun}.rules.ts';

test('a final ${words} is never moved', () => {
  for (const from of ${camel}Statuses.filter(isFinal${pascal})) {
    for (const command of ${camel}Commands) expect(move${pascal}(from, command, false).outcome).not.toBe('moved');
  }
  throw new Error('fill in: the real states and commands of ${withArticle(words)}, and a property for each rule; then delete this line');
});
`;

const apiTest: Template = ({
  words,
  pascal,
  plural,
  noun,
  domain,
  area,
  snake,
}) => `/** Goal: the ${words} operations do what they promise. Method: HTTP, PostgreSQL, events. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ${plural}Area } from '../../../src/domains/${domain}/${area}/${noun}.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

test('${withArticle(words)} is created and cancelled, each with its event', async () => {
  const owner = await world.owner();
  const api = owner.client(${plural}Area);
  const created = await api.create${pascal}({ body: { note: 'a note' } });
  expect(created).toMatchObject({ status: 'open', note: 'a note' });
  expect(await api.cancel${pascal}({ params: { id: created.id } })).toMatchObject({ status: 'cancelled' });
  expect(await eventNamesOf(world, owner.ownerId)).toEqual(
    expect.arrayContaining(['${snake}.created', '${snake}.cancelled']),
  );
  throw new Error('fill in: one test for each promise of the specification about ${withArticle(words)}; then delete this line');
});
`;

const workflowTest: Template = ({
  words,
  pascal,
  camel,
  noun,
  domain,
  area,
}) => `/** Goal: the workflow of ${withArticle(words)} expires it in time. Method: the dev server, activities replaced by a row in memory. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ${pascal}State } from '../../../activities/${domain}/${noun}.activities.ts';
import { ${camel}Facts } from '../../../src/domains/${domain}/${area}/${noun}.rules.ts';
import { type Id, newId } from '../../../src/kernel/ids.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';

const expired = new Set<string>();
const expiresAt = new Date('2026-11-20T12:00:00.000Z');
const stateOf = (id: string): ${pascal}State => {
  const status = expired.has(id) ? 'expired' : 'open';
  return {
    version: expired.has(id) ? 2 : 1,
    ...${camel}Facts({ status, expiresAt }, expiresAt),
    view: { id: id as Id<'${camel}'>, status, expiresAt: expiresAt.toISOString() },
  };
};
const activities = {
  read${pascal}: async (id: string) => stateOf(id),
  expire${pascal}: async (id: string) => {
    expired.add(id);
    return stateOf(id);
  },
};

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(async () => {
  await world.close();
});

test('${withArticle(words)} that is due expires, and its run ends', async () => {
  const id = newId('${camel}');
  const handle = await world.start('${camel}Lifecycle', \`${noun}/\${id}\`, id);
  expect(await handle.result()).toMatchObject({ id, status: 'expired' });
  throw new Error('fill in: what the workflow of ${withArticle(words)} waits for, in which order; then delete this line');
});
`;

const journeys: Template = ({
  words,
  pascal,
  camel,
  plural,
  noun,
  domain,
  area,
}) => `/** What an operator reads of ${withArticle(words)} in each stage, and the journeys that lead there. @module */
import type { ${pascal}State } from '../../../activities/${domain}/${noun}.activities.ts';
import { ${plural}Area } from '../../../src/domains/${domain}/${area}/${noun}.contract.ts';
import { ${camel}Facts } from '../../../src/domains/${domain}/${area}/${noun}.rules.ts';
import { day, hour, later } from '../../../src/kernel/instant.ts';
import { type Actors, someone } from '../../support/record/actors.ts';
import { type Journey, type Stage, until, type WorkflowJourneys } from '../../support/record/stage.ts';

async function open${pascal}(stage: Stage, { client }: Actors) {
  const api = client(${plural}Area);
  const { id } = await api.create${pascal}({ body: { note: \`a note of \${someone}\` } });
  const workflowId = \`${noun}/\${id}\`;
  const observe = (state: string) => stage.observe(\`${camel}Lifecycle: \${state}\`, workflowId, { subject: id });
  await observe('open');
  return { api, id, workflowId, observe };
}

const cancelled: Journey = async (stage, actors) => {
  const { api, id, workflowId, observe } = await open${pascal}(stage, actors);
  await api.cancel${pascal}({ params: { id } });
  await observe('cancelled');
  return [{ workflow: '${camel}Lifecycle', journey: 'cancelled', workflowId }];
};

const expired: Journey = async (stage, actors) => {
  const { api, id, workflowId, observe } = await open${pascal}(stage, actors);
  await actors.clock.advanceSandboxClock({ body: { ms: day + hour } });
  await until(
    () => api.get${pascal}({ params: { id } }),
    ({ status }) => status === 'expired',
    'the ${words} to expire',
  );
  await observe('expired');
  return [{ workflow: '${camel}Lifecycle', journey: 'expired', workflowId }];
};

/** As the activities answer with it. */
function waiting(id: string): ${pascal}State {
  const now = new Date();
  const [status, expiresAt] = ['open', later(now, day)] as const;
  const view = { id: id as ${pascal}State['view']['id'], status, expiresAt: expiresAt.toISOString() };
  return { version: 1, ...${camel}Facts({ status, expiresAt }, now), view };
}

export const journeys: WorkflowJourneys = {
  workflows: {
    ${camel}Lifecycle: {
      queue: 'main',
      id: '${noun}/{subject}',
      summary: '${words.charAt(0).toUpperCase() + words.slice(1)} {subject}: open until it expires or is cancelled',
      hasAgent: false,
      histories: ['cancelled', 'expired'],
      stages: {
        open: {
          stage: 'open',
          status: 'RUNNING',
          details: ['The ${words} {subject}. Waiting until {time} of business time, then it expires.'],
        },
        cancelled: { stage: 'cancelled', status: 'COMPLETED', details: ['The ${words} {subject}. Done: cancelled.'] },
        expired: { stage: 'expired', status: 'COMPLETED', details: ['The ${words} {subject}. Done: expired.'] },
      },
    },
  },
  journeys: [cancelled, expired],
  waiting: (seen) => ({ read${pascal}: async (id) => waiting(seen(id)) }),
};
`;

/** Path to text, without the migration, whose number depends on the others. */
export function filesOf(names: AreaNames): Record<string, string> {
  const { domain, area, noun } = names;
  const source = `src/domains/${domain}/${area}/${noun}`;
  return {
    [`${source}.rules.ts`]: rules(names),
    [`${source}.messages.ts`]: messages(names),
    [`${source}.contract.ts`]: contract(names),
    [`${source}.entity.ts`]: entity(names),
    [`src/events/shapes/${noun}.ts`]: shapes(names),
    [`${source}.queries.ts`]: queries(names),
    [`${source}.wire.ts`]: wire(names),
    [`${source}.service.ts`]: service(names),
    [`${source}.routes.ts`]: routes(names),
    [`activities/${domain}/${noun}.activities.ts`]: activities(names),
    [`workflows/${domain}/${noun}-lifecycle.workflow.ts`]: workflow(names),
    [`test/rules/${domain}/${noun}.rules.test.ts`]: rulesTest(names),
    [`test/api/${domain}/${area}.samples.ts`]: samples(names),
    [`test/api/${domain}/${area}.api.test.ts`]: apiTest(names),
    [`test/workflows/${domain}/${noun}-lifecycle.workflow.test.ts`]: workflowTest(names),
    [`test/workflows/${domain}/${noun}-lifecycle.journeys.ts`]: journeys(names),
  };
}

export const migrationOf = migration;
