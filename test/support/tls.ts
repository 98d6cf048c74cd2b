/**
 * TLS for tests: certificates made by openssl, where there is one, good ones and ones that a client refuses, and a front
 * for Temporal's dev server.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';

export const openssl = spawnSync('openssl', ['version']).status === 0;

/** `ca.pem`, and a key and a certificate of `server` and of `client`, all for localhost. */
export function makeCertificates(dir: string): void {
  runOpenssl(dir, 'req', '-x509', ...newKey('ca'), '-out', 'ca.pem', '-subj', '/CN=test-ca', '-days', '2');
  for (const name of ['server', 'client']) makeCertificate(dir, name);
}

type Certified = { readonly host?: string; readonly days?: number };

/** `name.key` and `name.pem`, signed by the authority of `makeCertificates`; with negative `days` it has expired. */
export function makeCertificate(dir: string, name: string, { host = 'localhost', days = 2 }: Certified = {}): void {
  const names = ['-addext', `subjectAltName=DNS:${host}`];
  runOpenssl(dir, 'req', ...newKey(name), '-out', `${name}.csr`, '-subj', `/CN=${name}`, ...names);
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy'];
  runOpenssl(dir, 'x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed, '-days', String(days));
}

/** `name.key` and `name.pem` for localhost, signed by itself alone. */
export function makeSelfSigned(dir: string, name: string): void {
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  runOpenssl(
    dir,
    'req',
    '-x509',
    ...newKey(name),
    '-out',
    `${name}.pem`,
    '-subj',
    `/CN=${name}`,
    ...names,
    '-days',
    '2',
  );
}

const newKey = (name: string): string[] => [
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ...['-nodes', '-keyout', `${name}.key`],
];

function runOpenssl(dir: string, ...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** What TLS carries is the dev server's own protocol, byte for byte. A stopped worker gets no more work. */
export function passOn(secure: Socket): void {
  const [host = '', port] = (process.env.TEST_TEMPORAL ?? '').split(':');
  const plain = connect(Number(port), host);
  secure.pipe(plain).pipe(secure);
  secure.on('error', () => secure.destroy()).on('close', () => plain.destroy());
  plain.on('error', () => plain.destroy()).on('close', () => secure.destroy());
}

export type Listening = { readonly port: number; readonly address: string; close(): Promise<void> };

/** On any port, unless one is named; `close` ends what is open too. */
export async function listening(server: Server, on = 0): Promise<Listening> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket.on('close', () => open.delete(socket))));
  await new Promise<void>((done) => void server.listen(on, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `localhost:${port}`,
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((done) => void server.close(() => done()));
    },
  };
}
