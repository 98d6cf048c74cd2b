/**
 * How a client authenticates at Temporal: with an API key, or with a TLS client certificate. The variables have the
 * names that Temporal's CLI reads. Must never repeat a key or the contents of a file.
 * @module
 */
import { readFileSync } from 'node:fs';

export type TemporalSecurity = {
  readonly apiKey?: string;
  readonly tls?: {
    readonly serverNameOverride?: string;
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  };
};

export const temporalSecurityNames = [
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
] as const;

type Given = Readonly<Partial<Record<(typeof temporalSecurityNames)[number], string | undefined>>>;

/** Any of the variables means TLS; none means plain text, for a server on loopback or in a separate network. */
export function temporalSecurity(given: Given): TemporalSecurity {
  if (temporalSecurityNames.every((name) => !given[name])) return {};
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS_SERVER_NAME: serverNameOverride } = given;
  const crt = fileOf(given, 'TEMPORAL_TLS_CLIENT_CERT_PATH');
  const key = fileOf(given, 'TEMPORAL_TLS_CLIENT_KEY_PATH');
  if ((crt === undefined) !== (key === undefined)) {
    throw new Error('TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH are needed together');
  }
  const serverRootCACertificate = fileOf(given, 'TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  return {
    ...(apiKey ? { apiKey } : {}),
    tls: {
      ...(serverNameOverride ? { serverNameOverride } : {}),
      ...(serverRootCACertificate === undefined ? {} : { serverRootCACertificate }),
      ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
    },
  };
}

function fileOf(given: Given, name: (typeof temporalSecurityNames)[number]): Buffer | undefined {
  const path = given[name];
  if (!path) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${name} names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
