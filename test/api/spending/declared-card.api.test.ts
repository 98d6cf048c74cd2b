/**
 * Goal: a declaration is for the card that its agent means. Method: real HTTP; the agent's cards are put into the
 * table in every state and age.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let agent: AgentWithCard;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

/** A copy of the agent's card with the given age. */
const card = async (name: string, status: 'active' | 'frozen' | 'closed', ageMinutes: number): Promise<string> => {
  const id = newId('card');
  await world.sql(
    `insert into cards select c.* from cards o, lateral jsonb_populate_record(o, jsonb_build_object(
       'id', $2::text, 'card_ref', 'ref_' || $2, 'name', $3::text, 'status', $4::text, 'is_primary', false,
       'frozen_by', case when $4 = 'frozen' then 'card' end, 'closed_at', case when $4 = 'closed' then o.created_at end,
       'created_at', o.created_at - $5 * interval '1 minute')) c where o.id = $1`,
    [agent.cardId, id, name, status, ageMinutes],
  );
  return id;
};
const declare = (more: object = {}) =>
  owner.client(intentsArea).declareIntent({
    body: { agentId: agent.agentId, purpose: 'a thing', expectedAmountEuros: 1, ...more },
  });

test('a name used again means the card that is open, also when it is frozen', async () => {
  await card('travel', 'closed', 9);
  const frozen = await card('travel', 'frozen', 5);
  const declared = await declare({ cardName: 'travel' });
  expect(declared).toMatchObject({ cardId: frozen, status: 'denied' });
  expect(declared.policyCheck.reason).toBe('the card is frozen');
});

test('a card that is closed is refused by name and by id', async () => {
  const closed = await card('gone', 'closed', 9);
  const refused = { status: 400, message: `card ${closed} is closed; name another card` };
  await expect(declare({ cardName: 'gone' })).rejects.toMatchObject(refused);
  await expect(declare({ cardId: closed })).rejects.toMatchObject(refused);
});

test('without a name it is the oldest active card, then the oldest frozen one', async () => {
  await card('closed', 'closed', 9);
  const frozen = await card('frozen', 'frozen', 8);
  const older = await card('older', 'active', 7);
  expect((await declare()).cardId).toBe(older);
  await world.sql(`update cards set status = 'closed', frozen_by = null, closed_at = created_at where id = any($1)`, [
    [older, agent.cardId],
  ]);
  expect((await declare()).cardId).toBe(frozen);
});

test("another agent's card is none of this agent's", async () => {
  const other = await anAgentWithCard(world, owner);
  await expect(declare({ cardId: other.cardId })).rejects.toMatchObject({
    status: 400,
    message: `agent ${agent.agentId} has no card ${other.cardId}`,
  });
});
