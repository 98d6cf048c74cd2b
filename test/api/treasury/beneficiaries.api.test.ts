/**
 * Goal: an owner keeps payees whose accounts and names were checked, agents see only those that they may pay, and no
 * payee that resembles a sanctioned one can be paid. Method: real HTTP and rows, and a file in the form of the EU list.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createEuSanctionsFile } from '../../../src/adapters/sanctions/eu-file.ts';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import type { PayeeAnswer, PayeeQuestion } from '../../../src/domains/treasury/beneficiaries/payee-check.port.ts';
import { suggestedNameContext } from '../../../src/domains/treasury/beneficiaries/payee-check.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { checkPayee } from '../../../src/usecases/treasury/check-payee.ts';
import { screenBeneficiary } from '../../../src/usecases/treasury/screen-beneficiary.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { eventsOf } from '../../support/events.ts';
import { aBeneficiary, anIban, euList } from '../../support/factories/beneficiaries.ts';
import { aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

const listed = [{ reference: 'EU.77.1', names: ['Zacharias Zorglub', 'Zachary Zorglub'] }];
let folder: string;
let list: string;
let world: World;
let payer: Payer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-beneficiaries-'));
  list = join(folder, 'list.xml');
  await writeFile(list, euList(listed));
  world = await startWorld({ env: { BURSAR_SANCTIONS_FILE: list } });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  payer = await aPayer(world);
});

const api = (of = payer) => of.owner.client(beneficiariesArea);
const asAgent = (of = payer) => world.as(of.token).client(beneficiariesArea);
const namesOf = async (client: ReturnType<typeof api>, query: Record<string, string> = {}) =>
  (await client.listBeneficiaries({ query })).data.map(({ name }) => name);
const dismiss = (id: string, reference: string, of = payer) =>
  createClient(beneficiariesArea, (request) =>
    sendTo(world.apiUrl)({
      ...request,
      headers: {
        ...request.headers,
        'X-Dashboard-Secret': world.dashboardSecret,
        'X-Owner-Id': of.owner.ownerId,
      },
    }),
  ).dismissBeneficiaryMatch({ params: { id }, body: { reference, reason: 'born in another year' } });
const evidenceOf = (id: string) =>
  world.sql<{ occasion: string; list: string; result: string }>(
    'select occasion, list, result from beneficiary_screenings where beneficiary_id = $1 order by number',
    [id],
  );

// spec: does:Beneficiaries:external payee directory for SEPA transfers
// spec: alias:/vendors
test('a payee is saved with the account in one form, the name as banks get it, and the screening', async () => {
  const iban = anIban();
  const created = await api().createBeneficiary({
    body: {
      name: ' Müller & Söhne GmbH ',
      iban: (iban.match(/.{1,4}/g) ?? []).join(' ').toLowerCase(),
      bic: 'cobadeffxxx',
    },
  });
  expect(created).toEqual({
    id: expect.stringMatching(/^ben_/),
    ownerId: payer.owner.ownerId,
    name: 'Müller & Söhne GmbH',
    sepaName: 'Muller + Sohne GmbH',
    iban,
    ibanMasked: `DE•• •••• ${iban.slice(-4)}`,
    bic: 'COBADEFFXXX',
    country: 'DE',
    email: null,
    agentsMayPay: false,
    status: 'active',
    screening: { result: 'clear', list: 'eu 2026-11-20', screenedAt: expect.any(String), matches: [] },
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect(await api().getBeneficiary({ params: { id: created.id } })).toEqual(created);
  const alias = await payer.owner.send({ method: 'GET', path: `/vendors/${created.id}`, headers: {} });
  expect(await alias.json()).toEqual(created);
});

test('the account is nowhere in the database in plain text', async () => {
  const iban = anIban();
  const { id } = await api().createBeneficiary({
    body: { name: 'Keller KG', iban },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  await api().updateBeneficiary({
    params: { id },
    body: { email: 'a@payee.example' },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  for (const table of ['beneficiaries', 'beneficiary_screenings', 'events', 'audit', 'idempotency', 'transitions']) {
    const rows = await world.sql<{ row: string }>(`select t::text as row from ${table} t`);
    expect(rows.filter(({ row }) => row.includes(iban))).toEqual([]);
  }
});

test('an agent sees the payees that agents may pay, without account number and address', async () => {
  const open = await aBeneficiary(payer.owner, { name: 'Open Ltd', agentsMayPay: true, email: 'a@payee.example' });
  const closed = await aBeneficiary(payer.owner, { name: 'Closed Ltd' });
  expect(await namesOf(asAgent())).toEqual(['Open Ltd']);
  expect(await asAgent().getBeneficiary({ params: { id: open.id } })).toEqual({ ...open, iban: null, email: null });
  await expect(asAgent().getBeneficiary({ params: { id: closed.id } })).rejects.toMatchObject({
    status: 403,
    message: expect.stringMatching('is not one that agents may pay'),
  });
  for (const attempt of [
    asAgent().updateBeneficiary({ params: { id: open.id }, body: { agentsMayPay: true } }),
    asAgent().deleteBeneficiary({ params: { id: open.id } }),
    asAgent().createBeneficiary({ body: { name: 'Own Ltd', iban: anIban() } }),
    asAgent().dismissBeneficiaryMatch({ params: { id: open.id }, body: { reference: 'EU.77.1', reason: 'x' } }),
  ])
    await expect(attempt).rejects.toMatchObject({ status: 403 });
  await api().updateBeneficiary({ params: { id: closed.id }, body: { agentsMayPay: true } });
  expect(await namesOf(asAgent())).toEqual(['Closed Ltd', 'Open Ltd']);
});

test('lists are narrowed by state and by a part of the name', async () => {
  const one = await aBeneficiary(payer.owner, { name: 'Bäckerei Müller' });
  await aBeneficiary(payer.owner, { name: '100%_Paper' });
  await api().updateBeneficiary({ params: { id: one.id }, body: { status: 'disabled' } });
  expect(await namesOf(api(), { q: 'MÜLL' })).toEqual(['Bäckerei Müller']);
  expect(await namesOf(api(), { q: '%_p' })).toEqual(['100%_Paper']);
  expect(await namesOf(api(), { q: '_' })).toEqual(['100%_Paper']);
  expect(await namesOf(api(), { status: 'active' })).toEqual(['100%_Paper']);
  expect(await namesOf(api(), { status: 'disabled', q: 'b' })).toEqual(['Bäckerei Müller']);
});

test('every field but the account changes, and texts that may be absent can be taken away', async () => {
  const { id, iban } = await aBeneficiary(payer.owner, { bic: 'COBADEFFXXX', email: 'a@payee.example' });
  const changed = await api().updateBeneficiary({
    params: { id },
    body: { name: 'Łódź Papier', bic: null, email: null, country: 'pl', status: 'disabled', agentsMayPay: true },
  });
  expect(changed).toMatchObject({
    ...{ name: 'Łódź Papier', sepaName: 'Lodz Papier', iban, bic: null, email: null },
    ...{ country: 'PL', status: 'disabled', agentsMayPay: true },
  });
  const body = { iban: anIban() } as object;
  await expect(api().updateBeneficiary({ params: { id }, body })).rejects.toMatchObject({ status: 400 });
  await expect(api().updateBeneficiary({ params: { id }, body: {} })).rejects.toMatchObject({ status: 400 });
});

test('a deleted payee is gone, and of its account only the masked form is left', async () => {
  const { id, iban } = await aBeneficiary(payer.owner, { email: 'a@payee.example' });
  await api().deleteBeneficiary({ params: { id } });
  for (const attempt of [
    api().getBeneficiary({ params: { id } }),
    api().deleteBeneficiary({ params: { id } }),
    api().updateBeneficiary({ params: { id }, body: { status: 'active' } }),
  ])
    await expect(attempt).rejects.toMatchObject({ status: 404 });
  expect(await namesOf(api())).toEqual([]);
  const [row] = await world.sql('select sealed_iban, email, iban_masked from beneficiaries where id = $1', [id]);
  expect(row).toEqual({ sealed_iban: null, email: null, iban_masked: `DE•• •••• ${iban?.slice(-4)}` });
  expect(await aBeneficiary(payer.owner, { iban: iban ?? '' })).toMatchObject({ iban });
});

test('an account is saved once per owner, also with two requests at once', async () => {
  const iban = anIban();
  const add = () => api().createBeneficiary({ body: { name: 'Keller KG', iban } });
  const both = await Promise.allSettled([add(), add()]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(add()).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/^body\.iban: is saved already, as ben_/),
  });
  expect(await namesOf(api())).toHaveLength(1);
  expect(await aBeneficiary((await aPayer(world)).owner, { iban })).toMatchObject({ iban });
});

test.each<[what: string, body: object, message: RegExp]>([
  ['wrong check digits', { iban: 'DE89370400440532013001' }, /body\.iban: has wrong check digits/],
  ['another length', { iban: 'DE8937040044053201300' }, /body\.iban: has not the length of an IBAN of DE/],
  ['an account outside the schemes', { iban: 'TR330006100519786457841326' }, /body\.iban: .*outside the SEPA schemes/],
  ['no account', { iban: undefined }, /body\.iban: is missing/],
  ['a BIC that is none', { bic: 'COBADE' }, /body\.bic: must be a BIC/],
  ['an address that is none', { email: 'anna' }, /body\.email: must be an email address/],
  ['a country that is none', { country: 'DEU' }, /body\.country/],
  ['too long a name', { name: 'x'.repeat(71) }, /body\.name/],
  ['a name that is too long for a bank', { name: 'ß'.repeat(60) }, /body\.name: must have at most 70 characters once/],
  ['a name without a letter', { name: '!!!' }, /body\.name: must hold a letter or a digit/],
])('%s is refused', async (_what, more, message) => {
  const body = { name: 'Keller KG', iban: anIban(), ...more };
  await expect(api().createBeneficiary({ body })).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(message),
  });
});

test('the country may differ from that of the account', async () => {
  expect(await aBeneficiary(payer.owner, { country: 'fr' })).toMatchObject({ country: 'FR' });
});

test('a name that resembles a listed one is a hit; the operator dismisses it, and a new name is compared anew', async () => {
  const { id, screening } = await aBeneficiary(payer.owner, { name: 'ZORGLUB Zacharias' });
  expect(screening).toMatchObject({
    result: 'hit',
    matches: [{ reference: 'EU.77.1', name: 'Zacharias Zorglub', scorePercent: 100 }],
  });
  await expect(dismiss(id, 'EU.1.1')).rejects.toMatchObject({ status: 400 });
  expect((await dismiss(id, 'EU.77.1')).screening).toMatchObject({ result: 'clear', matches: [] });
  expect((await dismiss(id, 'EU.77.1')).screening.result).toBe('clear');
  const same = await api().updateBeneficiary({ params: { id }, body: { name: 'ZORGLUB Zacharias' } });
  expect(same.screening.result).toBe('clear');
  const renamed = await api().updateBeneficiary({ params: { id }, body: { name: 'Zachary Zorglub' } });
  expect(renamed.screening.result).toBe('hit');
  const cleared = await api().updateBeneficiary({ params: { id }, body: { name: 'Keller KG' } });
  expect(cleared.screening).toMatchObject({ result: 'clear', matches: [] });
  expect((await evidenceOf(id)).map(({ occasion, result }) => `${occasion} ${result}`)).toEqual([
    'created hit',
    'renamed clear',
    'renamed hit',
    'renamed clear',
  ]);
  const stranger = await aPayer(world);
  await expect(dismiss(id, 'EU.77.1', stranger)).rejects.toMatchObject({ status: 404 });
  const own = { params: { id }, body: { reference: 'EU.77.1', reason: 'x' } };
  await expect(api().dismissBeneficiaryMatch(own)).rejects.toMatchObject({ status: 401 });
});

test('events and audit rows name neither account nor person', async () => {
  const { id, iban } = await aBeneficiary(payer.owner, { name: 'Zacharias Zorglub', email: 'z@payee.example' });
  await dismiss(id, 'EU.77.1');
  await api().deleteBeneficiary({ params: { id } });
  const told = await eventsOf(world, id);
  expect(told.map(({ name }) => name)).toEqual(['beneficiary.created', 'beneficiary.updated', 'beneficiary.deleted']);
  expect(told.map(({ data }) => (data as { screening: string }).screening)).toEqual(['hit', 'clear', 'clear']);
  const audit = await world.sql('select action, details from audit where subject_id = $1', [id]);
  expect(audit).toHaveLength(3);
  expect(JSON.stringify([told, audit])).not.toMatch(new RegExp(`${iban}|Zorglub|payee\\.example|born in`));
});

test('right before money is sent the name is compared with the list of that moment', async () => {
  const { id } = await aBeneficiary(payer.owner, { name: 'Quentin Quasimodo' });
  const cause: Cause = {
    causeId: randomUUID(),
    requestId: newId('request'),
    actor: { kind: 'system' },
    at: new Date(),
  };
  const sanctions = createEuSanctionsFile({
    path: join(folder, 'later.xml'),
    log: { error: () => {}, info: () => {} },
  });
  const screen = () =>
    inDatabase(world, (database) => screenBeneficiary({ database, sanctions })(id as `ben_${string}`, cause));
  await expect(screen()).rejects.toMatchObject({ code: 'unavailable' });
  await writeFile(join(folder, 'later.xml'), euList(listed));
  expect(await screen()).toBe('clear');
  const more = [...listed, { reference: 'EU.78.1', names: ['Quentin Quasimodo'] }];
  await writeFile(join(folder, 'later.xml'), euList(more, { day: '2026-11-21' }));
  expect(await screen()).toBe('hit');
  expect(await screen()).toBe('hit');
  expect((await api().getBeneficiary({ params: { id } })).screening).toMatchObject({
    list: 'eu 2026-11-21',
    result: 'hit',
  });
  expect((await evidenceOf(id)).map(({ occasion, result }) => `${occasion} ${result}`)).toEqual([
    'created clear',
    'sending clear',
    'sending hit',
    'sending hit',
  ]);
  expect((await eventsOf(world, id)).map(({ name }) => name)).toEqual(['beneficiary.created', 'beneficiary.updated']);
});

test('the bank’s answer about a payee is kept, and the name that it has is sealed', async () => {
  const { id, iban } = await aBeneficiary(payer.owner, { name: 'Erika Müstermann', bic: 'COBADEFFXXX' });
  const cause: Cause = {
    causeId: randomUUID(),
    requestId: newId('request'),
    actor: { kind: 'system' },
    at: new Date(),
  };
  const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
  const asked: PayeeQuestion[] = [];
  const ask = (answer: PayeeAnswer) =>
    inDatabase(world, (database) => {
      const payeeCheck = {
        ask: async (question: PayeeQuestion) => {
          asked.push(question);
          return answer;
        },
      };
      return checkPayee({ database, vault, payeeCheck })(id as `ben_${string}`, cause);
    });
  expect(await ask({ result: 'close_match', suggestedName: 'Erika Mustermann-Zeta' })).toBe('close_match');
  expect(await ask({ result: 'not_possible', reason: 'no_answer' })).toBe('not_possible');
  expect(await ask({ result: 'match' })).toBe('match');
  expect(asked[0]).toEqual({ name: 'Erika Mustermann', iban, bic: 'COBADEFFXXX' });
  const rows = await world.sql<{ result: string; reason: string | null; sealed_suggested_name: string | null }>(
    'select result, reason, sealed_suggested_name from payee_checks where beneficiary_id = $1 order by number',
    [id],
  );
  expect(rows.map(({ result, reason }) => [result, reason])).toEqual([
    ['close_match', null],
    ['not_possible', 'no_answer'],
    ['match', null],
  ]);
  expect(JSON.stringify(rows)).not.toContain('Zeta');
  expect(await vault.open(rows[0]?.sealed_suggested_name ?? '', suggestedNameContext(id))).toBe(
    'Erika Mustermann-Zeta',
  );
  await api().deleteBeneficiary({ params: { id } });
  await expect(ask({ result: 'match' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a broken list is not used and health says so; without any list nobody is saved', async () => {
  const health = async () => {
    const answer = await payer.owner.send({ method: 'GET', path: '/health', headers: {} });
    return ((await answer.json()) as { checks: { sanctions: string } }).checks.sanctions;
  };
  // An answer of health is kept for a second.
  const becomes = (wanted: string) => eventually(health, (found) => found === wanted);
  await becomes('ok');
  await writeFile(list, '<export');
  await becomes('degraded');
  expect((await aBeneficiary(payer.owner, { name: 'Zacharias Zorglub' })).screening.result).toBe('hit');
  await writeFile(list, euList(listed));
  await becomes('ok');
  const without = await startWorld({ env: { BURSAR_SANCTIONS_FILE: join(folder, 'absent.xml') } });
  const owner = await without.owner();
  await expect(aBeneficiary(owner)).rejects.toMatchObject({ status: 503 });
  await without.close();
});

test('another owner’s payees are not there', async () => {
  const { id } = await aBeneficiary(payer.owner, { agentsMayPay: true });
  const stranger = await aPayer(world);
  for (const client of [api(stranger), asAgent(stranger)]) {
    await expect(client.getBeneficiary({ params: { id } })).rejects.toMatchObject({ status: 404 });
    expect(await namesOf(client)).toEqual([]);
  }
});

test('an owner has a thousand, also with two concurrent requests for the last place', async () => {
  await world.sql(
    `insert into beneficiaries (id, owner_id, name, sealed_iban, iban_masked, country, agents_may_pay, status,
       screening_result, screening_list, matches, dismissals, screened_at, request_id, version, created_at, updated_at)
     select 'ben_filler' || n, $1, 'Filler', 'x', 'XX' || n, 'DE', false, 'active', 'clear', 'none', '[]', '[]', now(),
       'req', 1, now(), now() from generate_series(1, 999) n`,
    [payer.owner.ownerId],
  );
  const both = await Promise.allSettled([aBeneficiary(payer.owner), aBeneficiary(payer.owner)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(aBeneficiary(payer.owner)).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching('1000 is the limit'),
  });
});
