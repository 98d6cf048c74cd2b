/**
 * Makes any POST repeatable. The reservation is inserted before the work and holds a random seed from which the
 * request's ids are minted, so that a re-driven request names the same records. Only 2xx answers are kept.
 * @module
 */
import { hash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { columnRow } from '../db/column-row.ts';
import { type Database, isDatabaseAway } from '../db/database.ts';
import { firstRowOf, runSql } from '../db/statement.ts';
import { DomainError } from '../kernel/errors.ts';
import type { Vault } from '../vault/vault.ts';

export type RequestKey = {
  /** Of a merchant its own id. */
  readonly ownerId: string;
  /** An owner's key, its agents, the dashboard and merchants never meet each other's requests. */
  readonly callerKind: 'key' | 'agent' | 'dashboard' | 'merchant';
  /** Empty where no agent calls. */
  readonly agentId: string;
  readonly key: string;
  readonly method: string;
  /** Every path that this request could have been sent to: aliases, with and without `/v1`. The first is stored. */
  readonly paths: readonly [string, ...string[]];
  readonly rawBody: Uint8Array;
};

/** Whose turn it is; an expired one may be taken over, and then changes nothing any more. */
export type Lease = { readonly leaseToken: string };

export type Reservation =
  | (Lease & {
      readonly kind: 'run';
      readonly seed: string;
      readonly seedMs: number;
      /** Of an operation that answers from its row: this request was answered before. */
      readonly wasAnswered: boolean;
    })
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

type StoredAnswer = {
  readonly status: number;
  /** Null where a repeat is answered from the row. */
  readonly body: string | null;
  /** Kept sealed, and shown to a repeat for ten minutes only. */
  readonly isSecret: boolean;
  /** Kept sealed. */
  readonly isSealed?: boolean;
};

export type Idempotency = {
  /** Before validation: a stored answer, a refusal (409), or nothing known. */
  find(request: RequestKey): Promise<Extract<Reservation, { kind: 'replay' }> | undefined>;
  /** After validation: reserves, or takes over an expired reservation with its seed. */
  reserve(request: RequestKey): Promise<Reservation>;
  keep(request: RequestKey, lease: Lease, answer: StoredAnswer): Promise<void>;
  /** A 4xx: as if never asked. Not for a request that was answered before: its ids stay. */
  drop(request: RequestKey, lease: Lease): Promise<void>;
  /** A 5xx: the ids stay, the next call may go on at once. */
  release(request: RequestKey, lease: Lease): Promise<void>;
  /** Forgets answers past their retention and secrets past their ten minutes; returns how many rows went. */
  purge(): Promise<number>;
};

/** How long a request that lost its process keeps its key to itself. */
const defaultLeaseMs = 60_000;
const againMs = 500;
/** How long a request is answered again under its key. */
export const retentionHours = 24;
const secretMinutes = 10;

const keptRow = columnRow({
  callerKind: z.string(),
  method: z.string(),
  path: z.string(),
  requestHash: z.string(),
  isLeased: z.boolean(),
  status: z.int().nullable(),
  body: z.string().nullable(),
  bodyIsSealed: z.boolean(),
  mayReveal: z.boolean(),
});
type Kept = z.output<typeof keptRow>;

/** A row that was written before kinds of caller were stored has no kind, and matches both kinds. */
const selectRow = `select caller_kind, method, path, request_hash, status, body, body_is_sealed,
    coalesce(lease_until > now(), false) as is_leased, coalesce(reveal_until > now(), true) as may_reveal
  from idempotency where owner_id = $1 and caller_kind in ($2, '') and agent_id = $3 and key = $4
    and reserved_at > now() - interval '${retentionHours} hours'
  order by caller_kind desc limit 1`;

const assignCallerKind = `update idempotency set caller_kind = $2
  where owner_id = $1 and caller_kind = '' and agent_id = $3 and key = $4`;

export function createIdempotency(database: Database, vault: Vault, leaseMs = defaultLeaseMs): Idempotency {
  const keyOf = ({ ownerId, callerKind, agentId, key }: RequestKey) => [ownerId, callerKind, agentId, key];

  const find = async (request: RequestKey) => {
    const row = await firstRowOf(database.read(), keptRow, selectRow, keyOf(request));
    if (row === undefined) return undefined;
    if (!isOf(row, request)) throw otherRequest();
    if (row.callerKind === '') await runSql(database.read(), assignCallerKind, keyOf(request));
    return replayOf(row, request);
  };

  const replayOf = async (row: Kept, request: RequestKey) => {
    if (row.status === null || row.body === null) {
      if (row.isLeased) throw stillRunning();
      return undefined;
    }
    if (!row.mayReveal) throw conflict('answered before; its secret is no longer shown');
    const body = row.bodyIsSealed ? await vault.open(row.body, sealContext(request)) : row.body;
    return { kind: 'replay', status: row.status, body } as const;
  };

  const release: Idempotency['release'] = (request, { leaseToken }) =>
    patiently(
      () =>
        runSql(database.read(), `update idempotency set lease_until = null where ${leased}`, [
          ...keyOf(request),
          leaseToken,
        ]),
      Date.now() + leaseMs,
    );

  const reserve = async (request: RequestKey): Promise<Reservation> => {
    const seed = randomUUID();
    const seedMs = Date.now();
    const leaseToken = randomUUID();
    const mine = await firstRowOf(database.read(), reservedRow, reserveRow, [
      ...keyOf(request),
      request.method,
      request.paths[0],
      hashOf(request.rawBody),
      seed,
      seedMs,
      leaseToken,
      request.paths,
      leaseMs,
    ]).catch(async (error: unknown) => {
      if (isDatabaseAway(error)) await release(request, { leaseToken }); // The effect may have been committed.
      throw error;
    });
    if (mine !== undefined) {
      const { seed: firstSeed, seedMs: firstSeedMs, status } = mine;
      return { kind: 'run', seed: firstSeed, seedMs: firstSeedMs, leaseToken, wasAnswered: status !== null };
    }
    const replay = await find(request);
    if (replay !== undefined) return replay;
    throw stillRunning();
  };

  return {
    find,
    reserve,
    keep: async (request, { leaseToken }, { status, body, isSecret, isSealed = false }) => {
      const mustSeal = body !== null && (isSealed || isSecret);
      const stored = mustSeal ? await vault.seal(body, sealContext(request)) : body;
      await runSql(
        database.read(),
        `update idempotency set status = $6, body = $7, body_is_sealed = $8, lease_until = null,
           reveal_until = case when $9 then now() + interval '${secretMinutes} minutes' end
         where ${leased}`,
        [...keyOf(request), leaseToken, status, stored, mustSeal, isSecret],
      );
    },
    drop: (request, { leaseToken }) =>
      patiently(
        () =>
          runSql(database.read(), `delete from idempotency where ${leased} and status is null`, [
            ...keyOf(request),
            leaseToken,
          ]),
        Date.now() + leaseMs,
      ),
    release,
    purge: async () => {
      while ((await runSql(database.read(), purgeSecrets)) === purgedAtOnce);
      let gone = 0;
      for (let batch = purgedAtOnce; batch === purgedAtOnce; gone += batch) {
        batch = await runSql(database.read(), purgeRows);
      }
      return gone;
    },
  };
}

/** Bounded, so that no statement of the purge holds many rows, or a snapshot for long. */
const purgedAtOnce = 5_000;
const purgeRows = `delete from idempotency where ctid = any(array(
    select ctid from idempotency where reserved_at < now() - interval '${retentionHours} hours'
      order by reserved_at limit ${purgedAtOnce} for update skip locked))`;
const purgeSecrets = `update idempotency set body = '' where ctid = any(array(
    select ctid from idempotency where body_is_sealed and reveal_until < now() and body <> ''
      limit ${purgedAtOnce} for update skip locked))`;

/**
 * While the database is away the caller is answered, and it is tried again until the lease would have ended by
 * itself; who has taken it over meanwhile is not disturbed.
 */
async function patiently(end: () => Promise<unknown>, until: number): Promise<void> {
  try {
    await end();
  } catch (error) {
    if (!isDatabaseAway(error) || Date.now() > until) throw error;
    setTimeout(() => void patiently(end, until).catch(() => undefined), againMs).unref();
  }
}

const leased = 'owner_id = $1 and caller_kind = $2 and agent_id = $3 and key = $4 and lease_token = $5';

/**
 * Inserts, or takes over a row that is past its retention, or whose lease expired and that keeps no body to repeat: it
 * has no answer yet, or its answers are read from the row of the record.
 */
const reserveRow = `insert into idempotency as i
    (owner_id, caller_kind, agent_id, key, method, path, request_hash, seed, seed_ms, lease_token, lease_until)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $12::int * interval '1 millisecond')
  on conflict (owner_id, caller_kind, agent_id, key) do update set
    lease_until = excluded.lease_until, lease_token = excluded.lease_token,
    reserved_at = case when i.reserved_at < now() - interval '${retentionHours} hours' then now() else i.reserved_at end,
    seed = case when i.reserved_at < now() - interval '${retentionHours} hours' then excluded.seed else i.seed end,
    seed_ms = case when i.reserved_at < now() - interval '${retentionHours} hours' then excluded.seed_ms else i.seed_ms end,
    method = excluded.method, path = excluded.path, request_hash = excluded.request_hash,
    status = case when i.reserved_at < now() - interval '${retentionHours} hours' then null else i.status end,
    body = null, body_is_sealed = false, reveal_until = null
  where i.reserved_at < now() - interval '${retentionHours} hours'
    or (i.body is null and coalesce(i.lease_until, '-infinity') < now()
        and i.method = excluded.method and i.path = any($11::text[]) and i.request_hash = excluded.request_hash)
  returning seed, seed_ms, status`;

const reservedRow = columnRow({ seed: z.string(), seedMs: z.int(), status: z.int().nullable() });

const isOf = (row: Kept, { method, paths, rawBody }: RequestKey): boolean =>
  row.method === method && paths.includes(row.path) && row.requestHash === hashOf(rawBody);

export const hashOf = (raw: Uint8Array): string => hash('sha256', raw);
const sealContext = (request: RequestKey): string => `idempotency/${request.ownerId}/${request.agentId}/${request.key}`;
const conflict = (message: string): DomainError => new DomainError('idempotency_conflict', message);
export const otherRequest = (): DomainError =>
  conflict('this Idempotency-Key was used for another request; use a new key for a new request');
export const stillRunning = (): DomainError =>
  new DomainError(
    'idempotency_conflict',
    'the first request with this Idempotency-Key is still running; repeat shortly',
    {
      retryAfterSeconds: 5,
    },
  );
