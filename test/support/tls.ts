/** Temporal behind TLS, for tests: certificates made by openssl, where there is one, and a front for the dev server. @module */
import { spawnSync } from 'node:child_process';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';

export const openssl = spawnSync('openssl', ['version']).status === 0;

/** `ca.pem`, and a key and a certificate of `server` and of `client`, all for localhost. */
export function makeCertificates(dir: string): void {
  const run = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const key = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];
  run('req', '-x509', ...key('ca.key'), '-out', 'ca.pem', '-subj', '/CN=test-ca', '-days', '2');
  for (const name of ['server', 'client']) {
    const names = ['-addext', 'subjectAltName=DNS:localhost'];
    run('req', ...key(`${name}.key`), '-out', `${name}.csr`, '-subj', `/CN=${name}`, ...names);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy'];
    run('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed, '-days', '2');
  }
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
