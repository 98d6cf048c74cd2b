/**
 * Which addresses and URLs may be connected to: global unicast only, embedded IPv4 evaluated as IPv4, plus the exact
 * origins that an operator allowed. Pure: resolves nothing and connects to nothing.
 * @module
 */
import ipaddr from 'ipaddr.js';
import {
  type Block,
  blockedPorts,
  localNames,
  ownNetworkNames,
  specialIpv4,
  specialIpv6,
} from './special-addresses.ts';

export type Evaluation = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** `why` reads on from the address: `10.0.0.1 is private`. */
export function checkAddress(ip: string): Evaluation {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return evaluateIpv4(ipaddr.IPv4.parse(ip));
  if (ipaddr.IPv6.isValid(ip)) return evaluateIpv6(ipaddr.IPv6.parse(ip));
  return refused('is not an IP address');
}

export type UrlRules = {
  readonly allowedOrigins: readonly string[];
  /** True: https, except on an allowed origin. `always`: https there too. */
  readonly requireHttps?: boolean | 'always';
  /** True in a sandbox: a refused host or port is answered with the setting that allows the developer's own machine. */
  readonly namesAllowedOrigins?: boolean;
};
export type UrlCheck = { readonly url: URL; readonly isAllowedOrigin: boolean } | { readonly refused: string };

export const longestUrl = 2_048;

/** The sentence of a refusal says what to change and repeats no more of the URL than its host. */
export function checkUrl(raw: string, rules: UrlRules): UrlCheck {
  const { allowedOrigins, requireHttps = false } = rules;
  if (raw.length > longestUrl) return no(`the URL has ${raw.length} characters; use at most ${longestUrl}`);
  if (/[\s\\\p{Cc}]/u.test(raw)) return no('the URL holds a space, backslash or control character; percent-encode it');
  const url = URL.parse(raw);
  if (url === null) return no('the URL cannot be read; use the form https://host/path');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return no(`the URL's scheme is ${url.protocol.slice(0, -1)}; use https or http`);
  }
  if (url.username !== '' || url.password !== '') return no('the URL holds a user name or password; remove it');
  const isAllowedOrigin = allowedOrigins.includes(url.origin);
  const why = isAllowedOrigin ? undefined : (whyHostRefused(url.hostname) ?? whyPortRefused(url.port));
  if (why !== undefined) return no(`${why}${allowedOriginsHint(url, url.hostname, rules)}`);
  if (url.protocol === 'http:' && (requireHttps === 'always' || (requireHttps && !isAllowedOrigin))) {
    return no("the URL's scheme is http; use https");
  }
  return { url, isAllowedOrigin };
}

/**
 * The end of a refusal's sentence: how to allow this origin. Empty in live, and where `host` (a name or an IP address)
 * is neither the developer's machine nor in a private network: a cloud's metadata service is not to be allowed.
 */
export const allowedOriginsHint = (
  { origin }: URL,
  host: string,
  { namesAllowedOrigins = false }: Pick<UrlRules, 'namesAllowedOrigins'>,
): string =>
  namesAllowedOrigins && isOwnNetwork(host.replace(/^\[|\]$/g, ''))
    ? `; to allow it in this sandbox, start Bursar with BURSAR_ALLOWED_ORIGINS=${origin}`
    : '';

function isOwnNetwork(host: string): boolean {
  if (ipaddr.isValid(host)) return ['loopback', 'private', 'uniqueLocal'].includes(ipaddr.process(host).range());
  const name = withoutFinalDot(host);
  return !name.includes('.') || ownNetworkNames.some((own) => isOrEndsWith(name, own));
}

const withoutFinalDot = (host: string): string => host.replace(/\.$/, '');
const isOrEndsWith = (host: string, name: string): boolean => host === name || host.endsWith(`.${name}`);

/** The exact origin of one configured entry, or a sentence naming what is wrong with the entry. */
export function readAllowedOrigin(entry: string): string {
  const url = URL.parse(entry);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (!isOrigin) throw new Error(`allowed origin "${entry}" is not an origin; use the form http://host:port`);
  return url.origin;
}

const fine: Evaluation = { ok: true };
const refused = (why: string): Evaluation => ({ ok: false, why });
const no = (sentence: string): UrlCheck => ({ refused: sentence });

function evaluateIpv4(address: ipaddr.IPv4): Evaluation {
  const block = ipv4Blocks.find(({ range }) => address.match(range));
  return block === undefined ? fine : refused(block.what);
}

function evaluateIpv6(address: ipaddr.IPv6): Evaluation {
  if (address.zoneId !== undefined && address.zoneId !== '') return refused('names a zone of this machine');
  const embedded = embeddedIpv4(address);
  for (const inner of embedded) {
    const evaluation = evaluateIpv4(inner);
    if (!evaluation.ok) return refused(`carries ${inner.toString()}, which ${evaluation.why}`);
  }
  if (embedded.length > 0 && !isIsatap(address)) return fine;
  if (!address.match(globalUnicast)) return refused('is not a global unicast address');
  const block = ipv6Blocks.find(({ range }) => address.match(range));
  return block === undefined ? fine : refused(block.what);
}

const ipv4Blocks = specialIpv4.map(([cidr, what]: Block) => ({ range: ipaddr.IPv4.parseCIDR(cidr), what }));
const ipv6Blocks = specialIpv6.map(([cidr, what]: Block) => ({ range: ipaddr.IPv6.parseCIDR(cidr), what }));
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const mapped = ipaddr.IPv6.parseCIDR('::ffff:0:0/96');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16');
const teredo = ipaddr.IPv6.parseCIDR('2001::/32');

/** Packets to these end at the IPv4 address inside, whatever the IPv6 prefix says. */
function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (offset: number, mask = 0): ipaddr.IPv4 =>
    new ipaddr.IPv4(bytes.slice(offset, offset + 4).map((byte) => byte ^ mask));
  if (address.match(mapped) || address.match(nat64)) return [at(12)];
  if (address.match(sixToFour)) return [at(2)];
  if (address.match(teredo)) return [at(4), at(12, 0xff)]; // The server, and the client with its bits inverted.
  return isIsatap(address) ? [at(12)] : [];
}

/** Interface ids ::0:5efe:a.b.c.d tunnel to that IPv4 address under any prefix, so the prefix is evaluated as well. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [high, low] = [address.parts[4], address.parts[5]];
  return low === 0x5efe && (high === 0 || high === 0x200);
}

function whyHostRefused(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return whyIpRefused(hostname.slice(1, -1));
  const host = withoutFinalDot(hostname);
  // The URL parser has already turned decimal, octal, hexadecimal and short forms into four decimal parts.
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return whyIpRefused(host);
  const local = localNames.find(([name]) => isOrEndsWith(host, name));
  if (local !== undefined) return `${host} ${local[1]}; use a public address`;
  if (!host.includes('.')) return `the host "${host}" has no dot; use a full public name`;
  return host.includes('..') ? `the host "${host}" has an empty part; use a full public name` : undefined;
}

function whyIpRefused(ip: string): string | undefined {
  const evaluation = checkAddress(ip);
  return evaluation.ok ? undefined : `${ip} ${evaluation.why}; use a public address`;
}

function whyPortRefused(port: string): string | undefined {
  if (port === '' || port === '80' || port === '443') return undefined;
  if (Number(port) > 1023 && !blockedPorts.has(Number(port))) return undefined;
  return `port ${port} is not for web receivers; use 80, 443 or an unreserved port above 1023`;
}
