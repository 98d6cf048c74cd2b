/** The rail by files: the suite for all, what the files hold, and the folder in which the bank's files arrive. @module */
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type BankFolderMark, createFileBankRail, type OpenPayment } from '../../../src/adapters/bank-rail/files.ts';
import { type BankInboxOptions, bankInbox } from '../../../src/adapters/bank-rail/inbox.ts';
import { isoBankFiles } from '../../../src/adapters/sepa-files/bank-files.ts';
import type { BankRail } from '../../../src/domains/treasury/sepa/bank-rail.port.ts';
import type { Config } from '../../../src/main/config.ts';
import { portsOf, railLimitsOf } from '../../../src/main/ports.ts';
import type { Outbound } from '../../../src/outbound/outbound.ts';
import { aPayment, bankRailConformance } from './bank-rail-conformance.ts';

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'bursar-bank-'));

/** As the database keeps it, with the payments that it knows as open. */
function aMark(kept?: string, open: readonly OpenPayment[] = []): BankFolderMark {
  let mark = kept;
  return { kept: async () => mark, keep: async (fresh) => (mark ??= fresh), open: async () => open };
}

bankRailConformance('files', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'no-folder'), '');
  return {
    rail: createFileBankRail({ folder, mark: aMark(), files: isoBankFiles }),
    taken: async (endToEndId) =>
      (await readdir(join(folder, 'outbox'))).filter((name) => name === `${endToEndId}.xml`).length,
    away: createFileBankRail({ folder: join(folder, 'no-folder'), mark: aMark(), files: isoBankFiles }),
    stop: () => rm(folder, { recursive: true }),
  };
});

let folder: string;
beforeEach(async () => {
  folder = await newFolder();
});
afterEach(() => rm(folder, { recursive: true }));

describe('the outbox', () => {
  test('a file is whole, readable by its user alone, and named by its payment', async () => {
    const payment = aPayment();
    await createFileBankRail({ folder, mark: aMark(), files: isoBankFiles }).send(payment);
    const sent = (await readdir(join(folder, 'sent'))).filter((name) => name !== '.folder');
    expect(sent.concat(await readdir(join(folder, 'outbox')))).toEqual([
      `${payment.endToEndId}.xml`,
      `${payment.endToEndId}.xml`,
    ]);
    const path = join(folder, 'outbox', `${payment.endToEndId}.xml`);
    expect([(await stat(path)).mode & 0o777, (await stat(join(folder, 'outbox'))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    const xml = await readFile(path, 'utf8');
    expect(xml).toContain(`<MsgId>${payment.endToEndId}</MsgId>`);
    expect(xml).toContain('<InstdAmt Ccy="EUR">12.50</InstdAmt>');
  });

  test('what the bank has taken away is not written again', async () => {
    const rail = createFileBankRail({ folder, mark: aMark(), files: isoBankFiles });
    const payment = aPayment();
    await rail.send(payment);
    await rm(join(folder, 'outbox', `${payment.endToEndId}.xml`));
    expect(await rail.send(payment)).toEqual({ outcome: 'unknown', why: 'was given the payment before' });
    expect(await readdir(join(folder, 'outbox'))).toEqual([]);
    expect(await rail.ask(payment.endToEndId)).toMatchObject({ outcome: 'no_answer' });
  });

  test('a payment that was asked for before it was written is never written', async () => {
    const rail = createFileBankRail({ folder, mark: aMark(), files: isoBankFiles });
    const payment = aPayment();
    expect(await rail.ask(payment.endToEndId)).toEqual({ outcome: 'not_known' });
    expect(await createFileBankRail({ folder, mark: aMark(), files: isoBankFiles }).send(payment)).toMatchObject({
      outcome: 'unknown',
    });
    expect(await rail.ask(payment.endToEndId)).toEqual({ outcome: 'not_known' });
    expect(await readdir(join(folder, 'outbox'))).toEqual([]);
  });

  test('of a payment that was written to another folder nothing is said', async () => {
    const mark = aMark();
    const inFolder = (name: string) => createFileBankRail({ folder: join(folder, name), mark, files: isoBankFiles });
    const payment = aPayment();
    expect(await inFolder('one').send(payment)).toMatchObject({ outcome: 'taken' });
    const noAnswer = { outcome: 'no_answer', why: expect.stringContaining('another folder') };
    expect(await inFolder('two').ask(payment.endToEndId)).toEqual(noAnswer);
    expect(await inFolder('two').send(payment)).toMatchObject({ outcome: 'unknown' });
    await createFileBankRail({ folder: join(folder, 'two'), mark: aMark(), files: isoBankFiles }).send(aPayment());
    expect(await inFolder('two').ask(payment.endToEndId)).toEqual(noAnswer);
    const same = inFolder('one');
    expect(await same.ask(aPayment().endToEndId)).toEqual({ outcome: 'not_known' });
    await rm(join(folder, 'one', 'sent'), { recursive: true });
    expect(await same.ask(aPayment().endToEndId)).toEqual(noAnswer);
    expect(await readdir(join(folder, 'one'))).toEqual(['outbox']);
  });

  describe('of a database that kept no mark yet', () => {
    const railOf = (open: readonly OpenPayment[], name = 'bank', mark = aMark(undefined, open)) =>
      createFileBankRail({ folder: join(folder, name), mark, files: isoBankFiles });
    const noFolder = { outcome: 'no_answer', why: 'has a folder without the payments that were sent' };
    const [taken, unclear] = [aPayment(), aPayment()].map(({ endToEndId }) => endToEndId);
    const isTaken = (endToEndId = '') => ({ endToEndId, isTaken: true });
    const isUnclear = (endToEndId = '') => ({ endToEndId, isTaken: false });
    const putSent = async (endToEndId = '') => {
      await mkdir(join(folder, 'bank', 'sent'), { recursive: true });
      await writeFile(join(folder, 'bank', 'sent', `${endToEndId}.xml`), '<Document/>');
    };

    test('is taken with every open payment that the bank has in it', async () => {
      await putSent(taken);
      const mark = aMark(undefined, [isTaken(taken), isUnclear(unclear)]);
      expect(await railOf([], 'bank', mark).ask(unclear ?? '')).toEqual({ outcome: 'not_known' });
      expect(await mark.kept()).toEqual(expect.any(String));
      expect(await railOf([], 'bank', mark).ask(taken ?? '')).toMatchObject({
        outcome: 'no_answer',
        why: expect.stringMatching(/by its files/),
      });
    });

    test.each([
      ['one that the bank has is missing', [isTaken(taken), isTaken(aPayment().endToEndId)]],
      ['none is there, also none that the bank may have', [isUnclear(aPayment().endToEndId)]],
    ])('is not taken where %s, and nothing is written to it', async (_what, open) => {
      await putSent(taken);
      const mark = aMark(undefined, open);
      const [{ endToEndId } = isTaken()] = open;
      expect(await railOf([], 'bank', mark).ask(endToEndId)).toEqual(noFolder);
      expect(await railOf([], 'bank', mark).send(aPayment())).toEqual({ ...noFolder, outcome: 'unknown' });
      expect(await mark.kept()).toBeUndefined();
      expect(await readdir(join(folder, 'bank'))).toEqual(['sent']);
      // As an operator does who knows that it is the right one.
      await writeFile(join(folder, 'bank', 'sent', '.folder'), 'by hand');
      await mkdir(join(folder, 'bank', 'outbox'));
      expect(await railOf([], 'bank', mark).send(aPayment())).toMatchObject({ outcome: 'taken' });
      expect(await mark.kept()).toBe('by hand');
    });

    test('is not taken by the mark of another deployment, unless it has what was sent', async () => {
      const other = createFileBankRail({ folder: join(folder, 'bank'), mark: aMark(), files: isoBankFiles });
      expect(await other.prepare?.()).toBeUndefined();
      const mark = aMark(undefined, [isTaken(taken)]);
      expect(await railOf([], 'bank', mark).ask(taken ?? '')).toEqual(noFolder);
      expect(await mark.kept()).toBeUndefined();
      expect(await railOf([], 'bank').prepare?.()).toBeUndefined();
      await putSent(taken);
      expect(await railOf([], 'bank', mark).prepare?.()).toBeUndefined();
      expect(await mark.kept()).toEqual(expect.any(String));
    });

    test('is not made where its disk is not mounted, as the start says', async () => {
      const rail = railOf([isTaken(taken)], 'not-mounted');
      expect(await rail.ask(taken ?? '')).toEqual(noFolder);
      expect(await rail.prepare?.()).toBe(noFolder.why);
      expect(await readdir(folder)).toEqual([]);
    });

    test('is made at the start of a new deployment, so that a first sending that was interrupted is no proof against it', async () => {
      const open: OpenPayment[] = [];
      const mark = aMark(undefined, open);
      expect(await railOf([], 'bank', mark).prepare?.()).toBeUndefined();
      open.push(isUnclear(unclear));
      expect(await railOf([], 'bank', mark).ask(unclear ?? '')).toEqual({ outcome: 'not_known' });
    });
  });

  /** What a sending leaves that ends before each of its steps. */
  const interruptions: [step: string, make: (part: string, copy: string) => Promise<void>][] = [
    ['while it writes', (part) => writeFile(part, '<Docu')],
    [
      'before the file moves into the outbox',
      async (part, copy) => {
        await writeFile(part, '<Document/>');
        await link(part, copy);
      },
    ],
  ];
  test.each(interruptions)('a sending that ended %s is known as one that never was', async (_step, make) => {
    const { endToEndId } = aPayment();
    const sent = join(folder, 'sent');
    await mkdir(sent);
    await make(join(sent, `.${endToEndId}.xml.part`), join(sent, `${endToEndId}.xml`));
    const rail = createFileBankRail({ folder, mark: aMark(), files: isoBankFiles });
    expect(await rail.send(aPayment({ endToEndId }))).toMatchObject({ outcome: 'unknown' });
    expect(await rail.ask(endToEndId)).toEqual({ outcome: 'not_known' });
    expect(await rail.ask(endToEndId)).toEqual({ outcome: 'not_known' });
    expect(await rail.send(aPayment({ endToEndId }))).toMatchObject({ outcome: 'unknown' });
    expect(await readdir(join(folder, 'outbox'))).toEqual([]);
    expect((await readdir(sent)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('sendings and questions of several processes at once: the bank has what is taken, and nothing that is not known', async () => {
    const payments = Array.from({ length: 20 }, () => aPayment({ scheme: 'batch' }));
    const files = { write: async () => new TextEncoder().encode('<Document/>') };
    const mark = aMark();
    const rails = [1, 2, 3].map(() => createFileBankRail({ folder, mark, files }));
    const [first, second, third] = rails as [BankRail, BankRail, BankRail];
    const answers = await Promise.all(
      payments.map((one) => Promise.all([first.send(one), second.send(one), third.ask(one.endToEndId)])),
    );
    const written = await readdir(join(folder, 'outbox'));
    for (const [index, [one, other, asked]] of answers.entries()) {
      const isWritten = written.includes(`${payments[index]?.endToEndId}.xml`);
      if (one.outcome === 'taken' || other.outcome === 'taken') expect(isWritten).toBe(true);
      if (asked.outcome === 'not_known') expect(isWritten).toBe(false);
    }
  });
});

test('a deployment with a folder takes no order for an instant payment', () => {
  expect(railLimitsOf({ BURSAR_BANK_FOLDER: '/bank' }).offersInstant).toBe(false);
  expect(railLimitsOf({ BURSAR_BANK_FOLDER: undefined }).offersInstant).toBe(true);
});

test('live needs a folder or a simulator; without a simulator cards wait for a processor', async () => {
  const live = { BURSAR_MODE: 'live', BURSAR_BANK_FOLDER: folder } as Config;
  const { bankRail, payeeCheck, cardProcessor, networkSimulator } = portsOf(live, {} as Outbound, aMark());
  expect(await bankRail.send(aPayment({ scheme: 'batch' }))).toMatchObject({ outcome: 'taken' });
  expect(await payeeCheck.ask({} as never)).toEqual({ result: 'not_possible', reason: 'no_provider' });
  for (const call of [cardProcessor.issueCard, cardProcessor.mintPaymentToken, networkSimulator.charge])
    await expect(call({} as never)).rejects.toMatchObject({ code: 'unavailable' });
  expect(() => portsOf({ ...live, BURSAR_BANK_FOLDER: undefined }, {} as Outbound, aMark())).toThrow(
    'set BURSAR_BANK_FOLDER',
  );
});

describe('the inbox', () => {
  const said: string[] = [];
  const log = {
    error: (fields: object, text: string) => void said.push(`${JSON.stringify(fields)} ${text}`),
    info: () => undefined,
  };
  const inboxWith = (
    receive: (text: string) => Promise<{ why: string } | undefined>,
    options: Partial<BankInboxOptions> = {},
  ) =>
    bankInbox({
      folder,
      log: log as never,
      largestBytes: 100,
      youngestMs: -50_000, // The time of a file has parts of a millisecond, the clock has none.
      retryMs: 0,
      receive: (bytes) => receive(new TextDecoder().decode(bytes)),
      isPassing: (error) => String(error).includes('no database'),
      ...options,
    });
  const namesIn = async (name: string) => (await readdir(join(folder, name))).map((one) => one.replace(/^\w{16}-/, ''));
  const put = (name: string, text: string) => writeFile(join(folder, 'inbox', name), text);

  test('a file that comes under the name while another one is received is received next', async () => {
    const received: string[] = [];
    const pass = inboxWith(async (text) => {
      received.push(text);
      if (text !== 'one') return undefined;
      await writeFile(join(folder, 'next'), 'two');
      await rename(join(folder, 'next'), join(folder, 'inbox', 'camt.xml'));
      return undefined;
    });
    await pass();
    await put('camt.xml', 'one');
    expect(await pass()).toBe(1);
    expect(await pass()).toBe(1);
    expect(received).toEqual(['one', 'two']);
    expect(await namesIn('done')).toEqual(['camt.xml', 'camt.xml']);
  });

  test('files are received in the order of their names, and moved', async () => {
    const received: string[] = [];
    const pass = inboxWith(async (text) => {
      if (text === 'bad') return { why: 'breaks off' };
      received.push(text);
      return undefined;
    });
    await pass();
    await Promise.all([put('2.xml', 'two'), put('1.xml', 'one'), put('3.xml', 'bad'), put('.4.xml', 'hidden')]);
    await put('5.xml', 'x'.repeat(101));
    await symlink('/etc/hostname', join(folder, 'inbox', '6.xml'));
    await mkdir(join(folder, 'inbox', 'folder'));
    expect(await pass()).toBe(4);
    expect(received).toEqual(['one', 'two']);
    expect([await namesIn('done'), await namesIn('refused')]).toEqual([
      expect.arrayContaining(['1.xml', '2.xml']),
      expect.arrayContaining(['3.xml', '5.xml']),
    ]);
    expect((await readdir(join(folder, 'inbox'))).sort()).toEqual(['.4.xml', '6.xml', 'folder']);
    expect(said.join()).toContain('breaks off');
    expect(await pass()).toBe(0);
  });

  test('a file that could not be received stays and keeps no other waiting; the same name replaces nothing', async () => {
    const failures = [new Error('no database')];
    const pass = inboxWith(async () => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
      return undefined;
    });
    await mkdir(join(folder, 'inbox'));
    await put('1.xml', 'one');
    await put('2.xml', 'two');
    await expect(pass()).rejects.toThrow('no database');
    expect([await namesIn('inbox'), await namesIn('done')]).toEqual([['1.xml'], ['2.xml']]);
    await pass();
    await put('1.xml', 'another');
    await pass();
    expect((await namesIn('done')).sort()).toEqual(['1.xml', '1.xml', '2.xml']);
  });

  test('a file that fails while others are received is set aside; an outage sets nothing aside', async () => {
    let failure = 'no database';
    const pass = inboxWith(async (text) => {
      if (text === 'poison') throw new Error(failure);
      return undefined;
    });
    await mkdir(join(folder, 'inbox'));
    await put('1.xml', 'poison');
    const failing = async (times: number, other?: string) => {
      for (let time = 0; time < times; time += 1) {
        if (other !== undefined) await put(`2-${time}.xml`, `${other} ${time}`);
        await expect(pass()).rejects.toThrow(failure);
      }
    };
    await failing(20, 'while the database is away');
    failure = 'an outage that nobody listed';
    await failing(20);
    expect(await namesIn('inbox')).toEqual(['1.xml']);
    failure = 'a bug';
    await failing(10, 'while others are received');
    expect([await namesIn('inbox'), await namesIn('failed')]).toEqual([['1.xml'], []]);
    expect(await pass()).toBe(1);
    expect([await namesIn('inbox'), await namesIn('failed')]).toEqual([[], ['1.xml']]);
    expect(said.join()).toContain('failed time and again');
  });

  test('of two workers one receives a file; what a dead one has claimed is taken over', async () => {
    const received: string[] = [];
    const receiving = () =>
      inboxWith(async (text) => {
        received.push(text);
        return undefined;
      });
    const [one, other] = [receiving(), receiving()];
    await Promise.all([one(), other()]);
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    await Promise.all(texts.map((text) => put(`${text}.xml`, text)));
    await Promise.all([one(), other()]);
    expect(received.toSorted()).toEqual(texts.toSorted());
    expect(await namesIn('done')).toHaveLength(20);

    const dead = join(folder, 'taking', 'dead');
    await mkdir(dead);
    await writeFile(join(dead, 'claimed.xml'), 'claimed');
    await one();
    expect(received).toHaveLength(20);
    await utimes(dead, 0, 0);
    expect(await one()).toBe(1);
    expect(received.at(-1)).toBe('claimed');
    await utimes(dead, 0, 0);
    await one();
    expect(await readdir(join(folder, 'taking'))).not.toContain('dead');
  });

  test('a time to come, a name that is not in UTF-8, and one of 255 bytes keep no file waiting', async () => {
    const received: string[] = [];
    const pass = inboxWith(
      async (text) => {
        received.push(text);
        return undefined;
      },
      { youngestMs: 0 },
    );
    await pass();
    const long = `${'ä'.repeat(125)}.xml`;
    const latin = Buffer.concat([
      Buffer.from(join(folder, 'inbox', 'Erkl')),
      Buffer.from([0xe4]),
      Buffer.from('r.xml'),
    ]);
    await Promise.all([put('later.xml', 'later'), put(long, 'long'), writeFile(latin, 'latin')]);
    const later = new Date(Date.now() + 86_400_000);
    await utimes(join(folder, 'inbox', 'later.xml'), later, later);
    while (received.length < 3) await pass();
    expect(received.toSorted()).toEqual(['later', 'latin', 'long']);
    expect(await namesIn('inbox')).toEqual([]);
    expect(await namesIn('done')).toContain(`${'ä'.repeat(98)}.xml`);
  });
});
