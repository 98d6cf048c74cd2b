/** The sanctions lists: the suite for all, and that the file of the EU is read whole, again, and never when broken. @module */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createEuSanctionsFile, readEuList } from '../../../src/adapters/sanctions/eu-file.ts';
import { noSanctionsList } from '../../../src/adapters/sanctions/no-list.ts';
import { euList } from '../../support/factories/beneficiaries.ts';
import { sanctionsConformance } from './sanctions-conformance.ts';

const said: string[] = [];
const log = {
  error: (_details: object, message: string) => void said.push(`error: ${message}`),
  info: (_details: object, message: string) => void said.push(`info: ${message}`),
};
const entities = [
  { reference: 'EU.1.1', names: ['Erika Mustermann', 'Эрика Мустерман', 'Erika "Ricki" Mustermann & Co'] },
  { reference: 'EU.2.1', names: ['Example Trading'] },
];

let folder: string;
let path: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-sanctions-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => {
  files += 1;
  path = join(folder, `list-${files}.xml`);
  said.length = 0;
});
const listAt = () => createEuSanctionsFile({ path, log });

sanctionsConformance('none', async () => ({ list: noSanctionsList, stop: async () => undefined }));
sanctionsConformance('EU file', async () => {
  const own = join(folder, 'conformance.xml');
  await writeFile(own, euList(entities));
  return { list: createEuSanctionsFile({ path: own, log }), stop: async () => undefined };
});

test('all names are read, in every alphabet, with the reference of their entry and the day of the list', async () => {
  await writeFile(path, euList(entities));
  const list = await listAt().current();
  expect(list.id).toBe('eu 2026-11-20');
  expect(list.names).toEqual(entities.flatMap(({ reference, names }) => names.map((name) => ({ reference, name }))));
});

test('a name in parts is put together, and an entry without a number has that of its record', async () => {
  const parts = `<nameAlias firstName="Erika" middleName=" Maria" lastName="Mustermann" wholeName=""/><nameAlias wholeName=""/>`;
  const entry = `<sanctionEntity logicalId="77">${parts}</sanctionEntity>`;
  await writeFile(path, euList([]).replace('</export>', `${entry}</export>`));
  expect((await readEuList(path)).names).toEqual([{ reference: 'record 77', name: 'Erika Maria Mustermann' }]);
});

test('elements of the same name in other places or namespaces are not read', async () => {
  const beside = `<sanctionEntity euReferenceNumber="EU.9.1"><remark><nameAlias wholeName="Nested"/></remark></sanctionEntity>
    <o:sanctionEntity xmlns:o="urn:other" euReferenceNumber="EU.9.2"><o:nameAlias wholeName="Other"/></o:sanctionEntity>
    <nameAlias wholeName="Loose"/>`;
  await writeFile(path, euList(entities.slice(1)).replace('</export>', `${beside}</export>`));
  expect((await readEuList(path)).names).toEqual([{ reference: 'EU.2.1', name: 'Example Trading' }]);
});

test('the file is read again when it changes, and only then', async () => {
  await writeFile(path, euList(entities));
  const list = listAt();
  const first = await list.current();
  await writeFile(
    path,
    euList([...entities, { reference: 'EU.3.1', names: ['Rita Beispiel'] }], { day: '2026-11-21' }),
  );
  const second = await list.current();
  expect([first.id, second.id]).toEqual(['eu 2026-11-20', 'eu 2026-11-21']);
  expect(second.names).toHaveLength(5);
  expect(await list.current()).toBe(second);
  expect(said).toEqual(['info: sanctions list read', 'info: sanctions list read']);
});

const whole = euList(entities);
test.each<[what: string, text: string]>([
  ['one that ends too early', whole.slice(0, -30)],
  ['one that is not well-formed', whole.replace('</sanctionEntity>', '</sanctionEntities>')],
  ['an empty file', ''],
  ['one that names nobody', euList([])],
  ['another document', '<export generationDate="2026-11-20"><sanctionEntity/></export>'],
  ['one without a date', whole.replace('generationDate', 'generated')],
  ['one with a document type', whole.replace('<export', '<!DOCTYPE export [<!ENTITY a "b">]><export')],
  ['one with an undeclared entity', whole.replace('Example Trading', '&example;')],
])('%s is not used: the last good list stays and the state says so', async (_what, text) => {
  await writeFile(path, whole);
  const list = listAt();
  const good = await list.current();
  await writeFile(path, text);
  expect(await list.current()).toBe(good);
  expect(await list.state()).toBe('degraded');
  expect(said).toEqual(['info: sanctions list read', 'error: the sanctions list cannot be read']);
  await writeFile(path, `${whole}\n`);
  expect(await list.state()).toBe('ok');
});

test('without any list every comparison is refused, until there is one', async () => {
  const list = listAt();
  await expect(list.current()).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
  expect(await list.state()).toBe('down');
  await writeFile(path, 'nonsense');
  await expect(list.current()).rejects.toMatchObject({ code: 'unavailable' });
  await writeFile(path, whole);
  expect((await list.current()).names).toHaveLength(4);
  expect(await list.state()).toBe('ok');
});

test('a file that is taken away leaves its last list in force', async () => {
  await writeFile(path, whole);
  const list = listAt();
  const good = await list.current();
  await rm(path);
  expect(await list.current()).toBe(good);
  expect(await list.state()).toBe('degraded');
});
