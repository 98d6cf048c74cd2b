/**
 * Refuses requests of other sites' pages, also where a page has its own name resolve to this address (DNS rebinding):
 * the names of this service are known, and a page may call only its own origin.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../kernel/errors.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** `hosts`: further names, without port. */
export function createOwnPages({
  publicUrl,
  hosts,
}: {
  readonly publicUrl: string;
  readonly hosts: readonly string[];
}) {
  const { hostname, origin: publicOrigin } = new URL(publicUrl);
  const known = new Set([...loopback, hostname, ...hosts].map((name) => name.toLowerCase()));
  /** Throws `forbidden`. Programs send no `Origin`; a sandboxed page sends `null`. */
  return ({ headers: { host = '', origin } }: IncomingMessage): void => {
    const named = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
    if (named === undefined || !known.has(named.hostname)) {
      throw new DomainError('forbidden', 'the Host header names no host of this service; see BURSAR_MCP_HOSTS');
    }
    if (origin === undefined || origin === publicOrigin) return;
    const isOwn = URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
    if (!isOwn) throw new DomainError('forbidden', 'pages of other origins may not call this');
  };
}
