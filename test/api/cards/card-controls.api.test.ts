/**
 * The controls of a card over real HTTP with Temporal out of reach, and their effect on the decision about a charge.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cardControlsArea } from '../../../src/domains/cards/card-controls/card-control.contract.ts';
import { noControls } from '../../../src/domains/cards/card-controls/card-control.rules.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { eventsOf } from '../../support/events.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { refusal, statusOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  network = networkOf(world);
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
});

type Lists = Partial<Record<keyof typeof noControls, string[]>>;
const controls = () => payer.owner.client(cardControlsArea);
const one = () => ({ params: { cardId: payer.cardId } });
const replace = (body: Lists) => controls().replaceCardControls({ ...one(), body });
const update = (body: Lists) => controls().updateCardControls({ ...one(), body });
const remove = () => controls().deleteCardControls(one());
const lists = async () => {
  const { cardId: _id, updatedAt: _at, ...rest } = await controls().getCardControls(one());
  return rest;
};
const changes = async () => (await eventsOf(world, payer.cardId)).map(({ name, data }) => [name, data.changed]);

describe('setting them', () => {
  test('a card has none at first; setting replaces all lists, changing only those that are named', async () => {
    expect(await controls().getCardControls(one())).toEqual({ cardId: payer.cardId, ...noControls, updatedAt: null });
    const set = await replace({ blockedMerchants: ['Sandbox Casino'], allowedCountries: ['de', 'FR'] });
    expect(set).toMatchObject({ ...noControls, blockedMerchants: ['Sandbox Casino'], allowedCountries: ['DE', 'FR'] });
    expect(set.updatedAt).toMatch(/Z$/);
    expect(await update({ blockedMccs: ['7995'] })).toMatchObject({
      ...{ blockedMerchants: ['Sandbox Casino'], allowedCountries: ['DE', 'FR'], blockedMccs: ['7995'] },
    });
    expect(await replace({ blockedMccs: ['7995'] })).toMatchObject({ ...noControls, blockedMccs: ['7995'] });
    expect(await lists()).toEqual({ ...noControls, blockedMccs: ['7995'] });
    expect(await remove()).toMatchObject(noControls);
    expect(await lists()).toEqual(noControls);
  });

  test('each change fires one event and writes one audit row, which name the lists and not their values', async () => {
    await replace({ blockedMerchants: ['Sandbox Casino'], blockedMccs: ['7995'] });
    await replace({ blockedMccs: ['7995', '7995'], blockedMerchants: ['Sandbox Casino'] });
    await update({ blockedMccs: [] });
    await remove();
    await remove();
    expect(await changes()).toEqual([
      ['card.details_changed', ['blockedMerchants', 'blockedMccs']],
      ['card.details_changed', ['blockedMccs']],
      ['card.details_changed', ['blockedMerchants']],
    ]);
    expect(JSON.stringify(await eventsOf(world, payer.cardId))).not.toMatch(/casino|\b7995\b/i);
    const audits = await world.sql('select details from audit where subject_id = $1 order by id', [payer.cardId]);
    expect(audits.at(-1)).toEqual({ details: { fields: ['blockedMerchants'] } });
  });

  test('a value that is both allowed and blocked is refused, also where the other list stays; nothing changes', async () => {
    await replace({ allowedMccs: ['5734'] });
    await expect(update({ blockedMccs: ['5734'] })).rejects.toEqual(
      refusal(400, /^merchant category 5734 is both allowed and blocked$/),
    );
    await expect(replace({ allowedCountries: ['DE'], blockedCountries: ['de'] })).rejects.toEqual(
      refusal(400, /^country DE is both allowed and blocked$/),
    );
    expect(await lists()).toEqual({ ...noControls, allowedMccs: ['5734'] });
    expect(await changes()).toHaveLength(1);
  });

  test('200 values are the most of a list', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `Shop ${at}`);
    expect((await replace({ allowedMerchants: names })).allowedMerchants).toEqual(names);
    expect(await statusOf(replace({ allowedMerchants: [...names, 'one more'] }))).toBe(400);
  });

  test('a closed card keeps its controls, and they do not change any more', async () => {
    await replace({ blockedMccs: ['7995'] });
    await payer.owner.client(cardsArea).closeCard(one());
    for (const attempt of [() => replace({}), () => update({ blockedMccs: [] }), remove])
      await expect(attempt()).rejects.toEqual(refusal(400, /is closed/));
    expect(await lists()).toEqual({ ...noControls, blockedMccs: ['7995'] });
  });

  test('two changes at once are both kept', async () => {
    await Promise.all([update({ blockedMccs: ['7995'] }), update({ blockedCountries: ['US'] })]);
    expect(await lists()).toEqual({ ...noControls, blockedMccs: ['7995'], blockedCountries: ['US'] });
  });
});

describe('the decision about a charge', () => {
  const shop = { id: 'sandbox-shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };
  const charge = async (over: Partial<typeof shop> = {}) =>
    (await network.authorize(payer, { merchant: { ...shop, ...over } })).body;

  const traceOf = async (transactionId: string | null) =>
    (
      await world.sql<{ trace: { rule: string; outcome: string }[] }>(
        'select trace from decisions where transaction_id = $1',
        [transactionId],
      )
    )[0]?.trace ?? [];

  // spec: does:Card Controls:card-level merchant, country and MCC controls
  test.each<[Lists, Partial<typeof shop>, string]>([
    [{ blockedMerchants: ['Sandbox Shop'] }, { id: 'other', name: 'Other' }, 'card_merchant_blocklist'],
    [{ allowedMerchants: ['other'] }, { id: 'other', name: 'Other' }, 'card_merchant_allowlist'],
    [{ blockedMccs: ['5734'] }, { mcc: '5942' }, 'card_mcc_blocklist'],
    [{ allowedMccs: ['5942'] }, { mcc: '5942' }, 'card_mcc_allowlist'],
    [{ blockedCountries: ['DE'] }, { country: 'FR' }, 'card_country_blocklist'],
    [{ allowedCountries: ['FR'] }, { country: 'FR' }, 'card_country_allowlist'],
  ])('%j declines the one and approves the other', async (body, fitting, rule) => {
    await replace(body);
    const refused = await charge();
    expect(refused).toMatchObject({ decision: 'declined', rule });
    const allowed = await charge(fitting);
    expect(allowed).toMatchObject({ decision: 'approved' });
    expect((await traceOf(refused.transactionId)).at(-1)).toMatchObject({ rule, outcome: 'deny' });
    expect(await traceOf(allowed.transactionId)).toContainEqual(expect.objectContaining({ rule, outcome: 'pass' }));
    await remove();
    expect(await charge()).toMatchObject({ decision: 'approved' });
  });

  test('what the card allows does not help against the policy', async () => {
    await world.sql(`update policies set blocked_mccs = '{5734}' where agent_id = $1`, [payer.agentId]);
    await replace({ allowedMccs: ['5734'] });
    expect(await charge()).toMatchObject({ decision: 'declined', rule: 'mcc_blocklist' });
  });
});
