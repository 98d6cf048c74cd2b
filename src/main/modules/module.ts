/**
 * What an area registers: the operations it serves, the tables it stores and the workflows it runs. Each
 * domain has one module, which lists its areas. Every other list of a process is derived from the modules (index.ts).
 * @module
 */
import type * as workflowTypes from '../../../workflows/index.ts';
import type { Notices } from '../../db/notices.ts';
import type { AnyEntity } from '../../db/orm.ts';
import type { Tx } from '../../db/tx.ts';
import type { DecisionEvents } from '../../domains/identity/approvals/approval.contract.ts';
import type { ApprovalSubject, ApprovalSubjects } from '../../domains/identity/approvals/approval-subject.ts';
import type { OpenCredentials } from '../../domains/identity/credentials/credentials.ts';
import type { Lookups } from '../../http/reaches.ts';
import { type Area, type Handlers, type Mounted, mounted, type WithPages } from '../../http/route.ts';
import type { ReconciliationQuery } from '../../platform/reconciliation.ts';
import type { RetrySender } from '../../relay/retries.ts';
import type { WorkflowRegistration } from '../../temporal/workflow-registry.ts';
import type { Config } from '../config.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Ports } from '../ports.ts';

/** What the handlers of an area may use. */
export type ApiProcess = Infrastructure & {
  /** Aborts when the process ends. */
  readonly stopping: AbortSignal;
  readonly credentials: OpenCredentials;
  /** Of machine payments whose callers wait. */
  readonly mppOutcomes: Notices;
  /** The reconciliation queries of all areas. */
  readonly reconciliation: readonly ReconciliationQuery[];
  /** What a person approves, of every area. */
  readonly approvals: ApprovalSubjects;
  /** How records of all areas are found by id, all in one transaction. */
  readonly lookupsIn: (tx: Tx) => Lookups;
  /** The first parts of all workflow ids. */
  readonly runPrefixes: readonly string[];
};

export type ApiProcessWithoutApprovals = Omit<ApiProcess, 'approvals' | 'lookupsIn' | 'runPrefixes'>;

/** What the activities of an area may use. */
export type WorkerProcess = Infrastructure & { readonly ports: Ports; readonly retries: RetrySender };

export type Activities = Readonly<Record<string, (...input: never[]) => unknown>>;

/** A background loop of the worker process, beside its workflows. */
export type LoopRegistration = {
  /** The name in BURSAR_WORKER_LOOPS with which an operator selects the loop. */
  readonly group: Config['BURSAR_WORKER_LOOPS'][number];
  /** The PostgreSQL channel whose notifications wake the loop. */
  readonly wokenBy?: string;
  /** `approvals`: what a person approves, of every area. */
  readonly start: (infrastructure: Infrastructure, approvals: ApprovalSubjects) => RunningLoop;
};

export type RunningLoop = { stop(): Promise<void>; wake?(): void };

/** Every part is optional but the tables: an area lists the parts that it has. */
type Parts = {
  /** Every table that only this area's services write. Other domains read it through the domain's `index.ts`. */
  readonly tables: readonly string[];
  readonly entities?: readonly AnyEntity[];
  readonly activities?: (worker: WorkerProcess) => Activities;
  readonly workflows?: readonly WorkflowRegistration<keyof typeof workflowTypes>[];
  /** The area's records wait for a person: they are served under an approver's link, and decided by signal. */
  readonly approval?: Approval | readonly Approval[];
  readonly loops?: readonly LoopRegistration[];
  /** Queries that return no rows while the area's records agree. */
  readonly reconciliation?: readonly ReconciliationQuery[];
};

type Approval = {
  /** Of the area's own operations that approve and deny. */
  readonly fires: DecisionEvents;
  readonly subject: (infrastructure: Infrastructure) => ApprovalSubject;
};

type Served<A extends Area> = {
  readonly contract: A;
  /** The place in the documentation: areas are listed by ascending position. */
  readonly position: number;
  readonly handlers: (api: ApiProcess) => Handlers<A>;
  /** Finds the area's records by id. The edge checks owner and agent of what a request names. */
  readonly lookups?: (api: ApiProcess) => Lookups;
} & WithPages<A>;

export type RegisteredArea = Required<Omit<Parts, 'activities' | 'approval'>> & {
  readonly approval?: Parts['approval'];
  /** The folder of the area in its domain. */
  readonly name: string;
  readonly activities: (worker: WorkerProcess) => Activities;
  readonly served?: {
    readonly contract: Area;
    readonly position: number;
    readonly mount: (api: ApiProcess) => Mounted;
    readonly lookups: (api: ApiProcess) => Lookups;
  };
};

const without = { entities: [], activities: () => ({}), workflows: [], loops: [], reconciliation: [] };

/** An area with operations. It does not compile while a handler or a page of its contract is missing. */
export function servedArea<A extends Area>(name: string, area: Parts & Served<A>): RegisteredArea {
  const { contract, position, handlers, lookups, pages: _ofTheMount, ...parts } = area;
  const mount = (api: ApiProcess): Mounted => mounted<A>(contract, handlers(api), area, lookups?.(api));
  return { ...without, ...parts, name, served: { contract, position, mount, lookups: (api) => lookups?.(api) ?? {} } };
}

/** An area without operations: other areas or the platform call it. */
export const internalArea = (name: string, parts: Parts): RegisteredArea => ({ ...without, ...parts, name });

export type Module = { readonly domain: string; readonly areas: readonly RegisteredArea[] };

export const defineModule = (domain: string, areas: readonly RegisteredArea[]): Module => ({ domain, areas });
