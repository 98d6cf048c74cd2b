/** Under which key an atomic operation keeps its answer. Shapes only. @module */

/** As the database functions of atomic writes take it (`atomic-writes.sql`). */
export type AtomicKey = {
  readonly ownerId: string;
  readonly callerKind: string;
  readonly agentId: string;
  readonly key: string;
  readonly method: string;
  /** The first of `paths`. */
  readonly path: string;
  /** Every path that this request could have been sent to. */
  readonly paths: readonly string[];
  readonly requestHash: string;
  /** Of this call: a repeated batch recognises its own answer by it. */
  readonly seed: string;
  readonly seedMs: number;
};
