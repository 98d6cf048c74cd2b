/** Connects to a Temporal server, and leaves nothing behind where none answers. @module */
import { Connection, type ConnectionOptions } from '@temporalio/client';

/**
 * As `Connection.connect`, which does not close its channel after a failure: it goes on dialling for half an hour. A closed
 * one dials once more at most, at the end of the pause that it is in.
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const connection = Connection.lazy(options);
  try {
    await connection.ensureConnected();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
