/**
 * A chain of records: its name, and the SQL that reads the facts of its records. Contains the chain of audit rows.
 * @module
 */

export type RecordChain = {
  readonly name: 'audit' | 'decisions';
  /** What a difference calls one of its records. */
  readonly noun: string;
  readonly keyType: 'text' | 'bigint';
  /** A select with the columns key, owner_id, facts, address and texts, in the sense of RecordFacts. */
  readonly select: string;
};

/** ISO 8601 with microseconds, independent of the session's settings. */
export const exactInstant = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The name that an approver typed into a signal is a text; every other actor is a code or an id. */
export const auditChain: RecordChain = {
  name: 'audit',
  noun: 'audit row',
  keyType: 'text',
  select: `select a.id as key, a.owner_id,
      jsonb_build_array(a.owner_id, a.agent_id, case when a.actor like 'signal:%' then 'signal' else a.actor end,
        a.action, a.subject_id, a.request_id, a.outcome, ${exactInstant('a.created_at')})::text as facts,
      a.source_address as address,
      jsonb_build_array(case when a.actor like 'signal:%' then substr(a.actor, 8) end, a.details)::text as texts
    from audit a`,
};
