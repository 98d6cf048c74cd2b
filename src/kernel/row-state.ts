/**
 * The answer of every activity of a workflow that follows one row: which facts the row has reached, and how long until
 * each of its due times. JSON-safe. The rules of an area derive it; nothing is decided here.
 * @module
 */

export type RowState<View, Fact extends string, Due extends string = never> = {
  /** Increases with each change of the row. The workflow ignores an answer with an older version. */
  readonly version: number;
  /** No change can follow. The run ends. */
  readonly final: boolean;
  /** A set, not an order. A fact that was reached stays reached. */
  readonly reached: readonly Fact[];
  /** Milliseconds of business time until each due time that is set; 0 or less when it has passed. */
  readonly dueInMs: Readonly<Partial<Record<Due, number>>>;
  readonly view: View;
};
