/**
 * Each message of the network is signed for its endpoint, at its time, by a key of its network: a wrong, old or misdirected
 * signature is 401 at every endpoint, and nothing is kept or moved.
 * @module
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { aPayer, balancesOf, signed } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

let sender = 1;
/** Each from a separate address, because invalid signatures are limited by address. */
async function statusOf(path: string, rawBody: string, signature: string | undefined): Promise<number | undefined> {
  sender += 1;
  const { hostname, port } = new URL(world.apiUrl);
  const localAddress = `127.0.${Math.floor(sender / 250)}.${1 + (sender % 250)}`;
  const sent = request({
    ...{ hostname, port, path, localAddress, method: 'POST' },
    headers: {
      'Content-Type': 'application/json',
      ...(signature === undefined ? {} : { 'X-Network-Signature': signature }),
    },
  });
  sent.end(rawBody);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

const endpoints = ['authorizations', 'increments', 'clearings', 'reversals', 'refunds', 'advices'] as const;

test.each(endpoints)('%s', async (endpoint) => {
  const payer = await aPayer(world);
  const held = network.authorizationOf(payer);
  await network.send('authorizations', held);
  const about = { authorizationId: held.id, cardRef: payer.cardRef, amountCents: 500 };
  // A message that would be taken at every endpoint.
  const message = {
    ...{ ...network.authorizationOf(payer), ...about, id: `any_${payer.cardRef}`, final: true, approvedCents: 500 },
    authorization: held,
  };
  const rawBody = JSON.stringify(message);
  const state = async () => [
    await balancesOf(world, payer),
    await world.sql('select kind, id from network_messages where card_ref = $1 order by 1, 2', [payer.cardRef]),
    await world.sql('select id, version from transactions where agent_id = $1', [payer.agentId]),
  ];
  const before = await state();
  const path = `/network/${endpoint}`;
  const now = Math.floor(Date.now() / 1_000);
  const signatures: [string, string | undefined][] = [
    ['none', undefined],
    ['of another key', signed('another', { path, rawBody })],
    ['of another body', signed(world.networkKey, { path, rawBody: `${rawBody} ` })],
    ['too old', signed(world.networkKey, { path, rawBody, unixSeconds: now - 3_600 })],
    ['of the future', signed(world.networkKey, { path, rawBody, unixSeconds: now + 3_600 })],
    ...endpoints
      .filter((other) => other !== endpoint)
      .map((other): [string, string] => [
        `for ${other}`,
        signed(world.networkKey, { path: `/network/${other}`, rawBody }),
      ]),
  ];
  for (const [what, signature] of signatures) {
    expect([what, await statusOf(path, rawBody, signature)]).toEqual([what, 401]);
  }
  expect(await state()).toEqual(before);
  expect((await network.send(endpoint, message)).status).toBe(200);
});
