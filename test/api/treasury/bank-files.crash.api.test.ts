/**
 * Goal: an API that dies between two parts of a bank's file leaves no line unbooked and books none twice. Method: a lock
 * holds the second part back until the process is killed; the bank then sends the file to another one.
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { freePort } from '../../../src/supervisor/ports.ts';
import { notificationOf, sendBankFile } from '../../support/bank-files.ts';
import { brokenInvariants } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

/** As many as a part has. */
const linesOfFirst = 500;
const linesOfSecond = 20;

async function startSecondApi({ config, networkKey, sandboxUrl }: World) {
  const port = await freePort();
  const child = spawn(process.execPath, ['src/main/api.ts'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      DATABASE_URL: config.DATABASE_URL,
      BURSAR_DATA_DIR: config.BURSAR_DATA_DIR,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      BURSAR_NETWORK_KEY: networkKey,
      BURSAR_VAULT_KEY: config.BURSAR_VAULT_KEY,
      BURSAR_SIGNING_KEY: config.BURSAR_SIGNING_KEY,
      BURSAR_SANDBOX_URL: sandboxUrl,
    },
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  await eventually(
    async () => output,
    (text) => text.includes('api listens'),
  );
  const ended = once(child, 'exit');
  return { apiUrl: `http://127.0.0.1:${port}`, kill: () => child.kill('SIGKILL') && ended };
}

test('a file whose second part was cut off by a crash is booked once when the bank repeats it', async () => {
  const world = await startWorld();
  const dying = await startSecondApi(world);
  const holder = new pg.Client({ connectionString: world.ownerUrl });
  await holder.connect();
  try {
    const wallets = (await world.owner()).client(walletsArea);
    const [first, second] = [
      await wallets.createWallet({ body: { name: 'First' } }),
      await wallets.createWallet({ body: { name: 'Second' } }),
    ];
    const part = (length: number, iban: string | null) =>
      notificationOf(
        Array.from({ length }, () => ({ amount: '0.01' })),
        iban ?? '',
      );
    const [added] = /<Ntfctn>.*<\/Ntfctn>/s.exec(part(linesOfSecond, second.iban)) ?? [];
    const file = part(linesOfFirst, first.iban).replace(/(?=<\/BkToCstmrDbtCdtNtfctn>)/, added ?? '');
    const balances = async (): Promise<number[]> =>
      Promise.all(
        [first, second].map(async ({ id }) => (await wallets.getWalletBalance({ params: { id } })).availableEuros),
      );

    await holder.query('begin');
    await holder.query('select 1 from wallets where id = $1 for update', [second.id]);
    const cutOff = sendBankFile({ ...world, apiUrl: dying.apiUrl }, file).catch(() => 'no answer');
    await eventually(balances, ([booked]) => booked === linesOfFirst / 100);
    await dying.kill();
    await holder.query('rollback');
    expect(await cutOff).toBe('no answer');
    expect(await balances()).toEqual([5, 0]);

    const answer = await sendBankFile(world, file);
    expect(answer).toMatchObject({ status: 200, body: { lines: 520, credited: 20, already: 500, unbooked: 0 } });
    expect(await sendBankFile(world, file)).toEqual(answer);
    expect(await balances()).toEqual([5, 0.2]);
    expect(await brokenInvariants(world)).toEqual([]);
  } finally {
    await dying.kill();
    await holder.end();
    await world.close();
  }
});
