/** Ends a connection that answers nothing, and does not wait for its other side. @module */
import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

export const socketOf = (client: ClientBase): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

/**
 * Reset, and not closed in order, so that what was sent and has not arrived is mostly not executed after the caller has
 * given up. TLS and Unix sockets cannot be reset, and a repeat finds what was executed nevertheless.
 */
export function cutOff(client: ClientBase): void {
  const socket = socketOf(client);
  const why = new Error('Connection terminated: PostgreSQL did not answer in time');
  // A reset waits until everything is written, which a silent connection may never take; half a statement is not executed.
  if (socket.writableLength > 0) return void socket.destroy(why);
  try {
    socket.resetAndDestroy();
  } catch {
    socket.destroy(why);
  }
}

/** What `client` is asked; its connection is cut off when there is no answer in time. */
export async function answeredWithin<T>(client: ClientBase, ms: number, asked: Promise<T>): Promise<T> {
  const late = setTimeout(() => cutOff(client), ms);
  try {
    return await asked;
  } finally {
    clearTimeout(late);
  }
}
