/**
 * Why an outbound request got no answer: one of five kinds and a message that names only the host, because paths and
 * queries of receivers may be secret.
 * @module
 */
export type OutboundErrorKind = 'refused_address' | 'timeout' | 'unreachable' | 'tls' | 'protocol';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundErrorKind;
  /** The status, when the answer had begun before it failed. */
  readonly status: number | undefined;
  /** A pooled connection was closed under the request before any answer. */
  readonly isStaleConnection: boolean;
  /** No connection was made, so the receiver has seen nothing of the request. */
  readonly isUnsent: boolean;
  /** The refused IP address that a name resolves to. */
  readonly address: string | undefined;

  constructor(
    kind: OutboundErrorKind,
    message: string,
    options: {
      status?: number | undefined;
      isStaleConnection?: boolean;
      isUnsent?: boolean;
      address?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.isStaleConnection = options.isStaleConnection ?? false;
    this.isUnsent = options.isUnsent ?? kind === 'refused_address';
    this.address = options.address;
  }
}

export const refusedAddress = (why: string, address?: string): OutboundError =>
  new OutboundError('refused_address', why, { address });

type Circumstances = { readonly host: string; readonly timeoutMs: number; readonly status?: number | undefined };

/** Translates whatever the HTTP client threw. */
export function outboundErrorFrom(cause: unknown, { host, timeoutMs, status }: Circumstances): OutboundError {
  const errors = chainOf(cause);
  const own = errors.find((error) => error instanceof OutboundError);
  if (own !== undefined) return own;
  const codes = errors.map(codeOf);
  const seconds = `${timeoutMs / 1000} s`;
  if (codes.includes('TimeoutError')) {
    return new OutboundError('timeout', `${host} did not answer completely within ${seconds}`, { status });
  }
  const known = codes.flatMap((code) =>
    kinds.filter(({ when }) => when.test(code)).map((kind) => ({ ...kind, code })),
  )[0];
  const isStaleConnection =
    status === undefined && codes.some((code) => /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(code));
  const isUnsent = status === undefined && codes.some((code) => beforeAnyConnection.test(code));
  const { kind, says, code } = known ?? { kind: 'protocol' as const, says: 'gave no readable answer', code: codes[0] };
  return new OutboundError(kind, `${host} ${says}${code ? ` (${code})` : ''}`, {
    status,
    isStaleConnection,
    isUnsent,
    cause,
  });
}

/** Faults of looking the name up, of connecting, and of checking the certificate. */
const beforeAnyConnection =
  /^(UND_ERR_CONNECT_TIMEOUT|ENOTFOUND|EAI_|ENODATA|ESERVFAIL|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ERR_TLS_CERT|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_)/;

const kinds: readonly { when: RegExp; kind: OutboundErrorKind; says: string }[] = [
  { when: /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, kind: 'timeout', says: 'did not accept a connection in time' },
  { when: /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/, kind: 'unreachable', says: 'does not resolve' },
  { when: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, kind: 'unreachable', says: 'is not reachable' },
  { when: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, kind: 'unreachable', says: 'closed the connection' },
  { when: /^CERT_HAS_EXPIRED$/, kind: 'tls', says: 'has a certificate that has expired' },
  { when: /^CERT_NOT_YET_VALID$/, kind: 'tls', says: 'has a certificate that is not valid yet' },
  {
    when: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    kind: 'tls',
    says: 'has a certificate for another name',
  },
  { when: /^DEPTH_ZERO_SELF_SIGNED_CERT$/, kind: 'tls', says: 'has a self-signed certificate' },
  {
    when: /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF)/,
    kind: 'tls',
    says: 'has a certificate without a complete chain to a trusted authority',
  },
  {
    when: /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_)/,
    kind: 'tls',
    says: 'failed TLS',
  },
];

/** The error, its causes, and the errors inside an AggregateError; recognised by shape, not by class. */
function chainOf(error: unknown, depth = 0): ErrorShape[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const shape = error as ErrorShape;
  return [shape, ...[...(shape.errors ?? []), shape.cause].flatMap((next) => chainOf(next, depth + 1))];
}

type ErrorShape = { name?: string; code?: unknown; cause?: unknown; errors?: unknown[] };

const codeOf = ({ code, name = '' }: ErrorShape): string =>
  typeof code === 'string' ? code : name === 'Error' ? '' : name;
