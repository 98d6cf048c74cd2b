/** The modules of every domain, and the lists that a process derives from them. @module */

import type { AnyEntity } from '../../db/orm.ts';
import { withDecisionEvents } from '../../domains/identity/approvals/approval.contract.ts';
import type { ApprovalSubjects } from '../../domains/identity/approvals/approval-subject.ts';
import type { Area, Mounted } from '../../http/route.ts';
import type { ReconciliationQuery } from '../../platform/reconciliation.ts';
import { type WorkflowRegistry, workflowRegistry } from '../../temporal/workflow-registry.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { cards } from './cards.ts';
import { delivery } from './delivery.ts';
import { identity } from './identity.ts';
import { merchants } from './merchants.ts';
import type {
  Activities,
  ApiProcess,
  ApiProcessWithoutApprovals,
  LoopRegistration,
  Module,
  WorkerProcess,
} from './module.ts';
import { oversight } from './oversight.ts';
import { parties } from './parties.ts';
import { payments } from './payments.ts';
import { platform } from './platform.ts';
import { spending } from './spending.ts';
import { treasury } from './treasury.ts';

/** In the order of the domains: a domain imports only from domains above it. */
export const modules: readonly Module[] = [
  platform,
  identity,
  parties,
  merchants,
  treasury,
  spending,
  cards,
  payments,
  oversight,
  delivery,
];

const areas = modules.flatMap((module) => module.areas);

const approvals = areas.flatMap(({ approval }) => approval ?? []);

const served = areas
  .flatMap(({ name, served }) => (served === undefined ? [] : [{ ...served, name }]))
  .sort((one, other) => one.position - other.position)
  .map((area) => ({
    ...area,
    contract: withDecisionEvents(
      area.contract,
      approvals.map(({ fires }) => fires),
    ),
  }));

/** Every area that is served, in the order of the documentation. */
export const publishedAreas: readonly Area[] = served.map(({ contract }) => contract);

/** The same with the noun of each, for areas that share a tag. */
export const namedAreas = served.map(({ name, contract }) => ({ name, contract }));

/** Every operation with its handler. */
export function mountedAreas(given: Omit<ApiProcessWithoutApprovals, 'reconciliation'>): Mounted[] {
  const withoutApprovals = { ...given, reconciliation: reconciliationQueries };
  const api: ApiProcess = {
    ...withoutApprovals,
    approvals: approvalSubjects(given),
    lookupsIn: (tx) => {
      const inTransaction = { ...api, database: { ...api.database, read: () => tx } };
      return Object.assign({}, ...served.map(({ lookups }) => lookups(inTransaction)));
    },
    runPrefixes: [...workflows.values()].map(({ idPrefix }) => idPrefix),
  };
  return served.map(({ contract, mount }): Mounted => ({ ...mount(api), area: contract }));
}

/** What a person approves, of every area. */
export const approvalSubjects = (infrastructure: Infrastructure): ApprovalSubjects =>
  approvals.map(({ subject }) => subject(infrastructure));

/** Every entity, for the one ORM of a process. */
export const entities: readonly AnyEntity[] = areas.flatMap((area) => area.entities);

/** What the gateway knows of each workflow type. */
export const workflows: WorkflowRegistry = workflowRegistry(areas.flatMap((area) => area.workflows));

/** The object of activities that the worker registers. */
export function workerActivities(worker: WorkerProcess): Activities {
  const entries = areas.flatMap((area) => Object.entries(area.activities(worker)));
  const activities = Object.fromEntries(entries);
  const repeated = entries.filter(([name, activity]) => activities[name] !== activity).map(([name]) => name);
  if (repeated.length > 0) throw new Error(`activities of two areas have the same name: ${repeated.join(', ')}`);
  return activities;
}

export const backgroundLoops: readonly LoopRegistration[] = areas.flatMap((area) => area.loops);

export const reconciliationQueries: readonly ReconciliationQuery[] = areas.flatMap((area) => area.reconciliation);

/** The domain that owns each table. */
export const ownerOfTable: ReadonlyMap<string, string> = new Map(
  modules.flatMap(({ domain, areas }) =>
    areas.flatMap(({ tables }) => tables.map((table) => [table, domain] as const)),
  ),
);
