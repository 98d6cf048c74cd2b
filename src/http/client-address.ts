/**
 * The client address of a request: the connection's, or the one that a trusted proxy names. Limits count by it.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** A whole IP address, or `unknown`. */
export type ClientAddress = (request: IncomingMessage) => string;

export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  const trusted = trustedProxies.map((text) =>
    text.includes('/') ? ipaddr.parseCIDR(text) : ([ipaddr.parse(text), undefined] as const),
  );
  const direct = rememberedText((address) => parse(address)?.toString() ?? 'unknown');
  return (request) =>
    request.headers['x-forwarded-for'] === undefined
      ? direct(request.socket.remoteAddress ?? '')
      : (clientOf(request, trusted)?.toString() ?? 'unknown');
}

const mostRemembered = 10_000;

/** The same few addresses send request after request. */
export function rememberedText(work: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= mostRemembered) known.clear();
    const made = work(text);
    known.set(text, made);
    return made;
  };
}

/** By which limits count: IPv4 clients by their address, IPv6 clients by their /64, of which they have all addresses. */
export const addressGroupOf = rememberedText((client) => {
  if (!ipaddr.isValid(client)) return 'unknown';
  const address = ipaddr.process(client);
  return address.kind() === 'ipv4' ? address.toString() : address.toNormalizedString().split(':').slice(0, 4).join(':');
});

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Trusted = readonly (readonly [Address, number | undefined])[];

function clientOf(request: IncomingMessage, trusted: Trusted): Address | undefined {
  const socket = parse(request.socket.remoteAddress ?? '');
  const forwarded = request.headers['x-forwarded-for'];
  if (socket === undefined || forwarded === undefined || !isTrusted(socket, trusted)) return socket;
  // The nearest hop that is not ours is the client; what stands left of it is hearsay.
  const hops = String(forwarded)
    .split(',')
    .map((hop) => parse(hop.trim()))
    .reverse();
  const client = hops.findIndex((hop) => hop === undefined || !isTrusted(hop, trusted));
  return client === -1 ? socket : hops[client];
}

function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function isTrusted(address: Address, trusted: Trusted): boolean {
  return trusted.some(([network, bits]) =>
    network.kind() !== address.kind()
      ? false
      : bits === undefined
        ? network.toString() === address.toString()
        : address.match(network, bits),
  );
}
