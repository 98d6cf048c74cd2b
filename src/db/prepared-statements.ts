/**
 * A client that prepares repeated statements: PostgreSQL parses such a statement once per connection, and plans it as
 * often as it finds useful. Statements and results do not change.
 * @module
 */
import pg from 'pg';

/** As JDBC's driver does it: not for what is asked once or twice, and never without bound. */
const preparedFromUse = 5;
const mostPrepared = 256;
const mostCounted = 2_000;

/** The client class of one pool: the pool's connections share the names of its statements, and the count of them. */
export function preparingClient(): typeof pg.Client {
  const statements = createStatements();
  return class extends pg.Client {
    override query = ((...args: unknown[]): unknown => {
      const [text, values, callback] = args;
      if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0 || callback !== undefined) {
        return this.#ask(...args);
      }
      const name = statements.nameOf(text);
      if (name === undefined) return this.#ask(text, values);
      const mayRepeat = this.getTransactionStatus() === 'I';
      return (this.#ask({ name, text, values }) as Promise<unknown>).catch((error: unknown) => {
        if (!isOutdatedStatement(error)) throw error;
        statements.forget(text, name);
        // Within a transaction the transaction has failed; its caller begins it again.
        if (!mayRepeat) throw error;
        return this.#ask(text, values);
      });
    }) as pg.Client['query'];

    #ask(...args: unknown[]): unknown {
      return (pg.Client.prototype.query as (...query: unknown[]) => unknown).apply(this, args);
    }
  };
}

/** A migration has changed what a kept statement answers with, and PostgreSQL refuses to guess. */
export const isOutdatedStatement = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.message.startsWith('cached plan');

type Statements = {
  /** Undefined while the statement is not repeated often enough, and when there are as many names as there may be. */
  nameOf(text: string): string | undefined;
  /** The statement's next name is one that no connection knows. */
  forget(text: string, name: string): void;
};

function createStatements(): Statements {
  const names = new Map<string, string>();
  const uses = new Map<string, number>();
  let named = 0;
  return {
    nameOf: (text) => {
      const known = names.get(text);
      if (known !== undefined || names.size >= mostPrepared) return known;
      const count = (uses.get(text) ?? 0) + 1;
      if (count < preparedFromUse) {
        if (uses.size >= mostCounted) uses.clear();
        uses.set(text, count);
        return undefined;
      }
      uses.delete(text);
      const name = `bursar_${named++}`;
      names.set(text, name);
      return name;
    },
    forget: (text, name) => {
      if (names.get(text) === name) names.delete(text);
    },
  };
}
