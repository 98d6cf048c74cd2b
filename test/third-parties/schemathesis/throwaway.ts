/** What throwaway owners have, by noun: ids that exist, addresses and words that fit. @module */
import { randomUUID } from 'node:crypto';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf, recordsOf } from '../../support/factories/records.ts';
import type { Installation } from '../../support/installation.ts';
import type { Owner } from '../../support/world.ts';
import type { KnownValues } from './configuration.ts';

export async function records(installation: Installation, owner: Owner): Promise<KnownValues> {
  const { sandboxUrl } = installation;
  const api = clientsOf(owner);
  const first = await recordsOf({ sandboxUrl }, owner);
  const another = await api.agents.createAgent({ body: { name: 'another' } });
  const declared = { agentId: another.id, purpose: 'a thing', expectedAmountEuros: 5 };
  const approved = await times(12, () => api.intents.declareIntent({ body: declared }));
  const pending = await times(4, () => api.intents.declareIntent({ body: { ...declared, expectedAmountEuros: 60 } }));
  const intents = [...approved, ...pending].map(({ id }) => id);
  const passkey = await aPasskey({ config: { publicUrl: installation.ready.apiUrl } }, owner);
  const asked = await times(8, () => api.intents.declareIntent({ body: { ...declared, expectedAmountEuros: 60 } }));
  const links = asked.map(({ approvalUrl }) => approvalUrl?.split('/').at(-1) ?? '');
  return {
    ag: [first.agentId, another.id],
    ca: [first.cardId, another.cardId ?? ''],
    int: [first.intentId, first.approvedIntentId, first.completedIntentId, ...intents],
    po: [first.policyId],
    tx: [first.transactionId],
    wal: [first.walletId],
    fnd: [first.fundingId],
    wh: [first.webhookId],
    whd: [first.deliveryId],
    le: [first.entryId],
    tok: [first.tokenId],
    evd: [first.evidenceId],
    psk: [passkey.id],
    'getApproval-token': links,
    'createApprovalChallenge-token': links.slice(0, 4),
    'denyByLink-token': links.slice(4),
    ...(await words(installation, owner)),
  };
}

/** Enough of everything that can be ended, each of which may be. */
export async function destructible(installation: Installation, owner: Owner): Promise<KnownValues> {
  const api = clientsOf(owner);
  const receiver = `${installation.sandboxUrl}/receiver/${randomUUID()}`;
  const agents = await times(24, () => api.agents.createAgent({ body: { name: 'short-lived' } }));
  const tokens = await Promise.all(
    agents.map(({ id }) => api.tokens.createAgentToken({ params: { id }, body: { label: 'short-lived' } })),
  );
  const frozen = await times(8, () => api.agents.createAgent({ body: { name: 'frozen' } }));
  for (const { id } of frozen.slice(0, 4)) await api.agents.freezeAgent({ params: { id } });
  for (const { id } of frozen.slice(4)) await api.cards.freezePrimaryCard({ params: { agentId: id } });
  const wallets = await times(12, () => api.wallets.createWallet({ body: { name: 'short-lived' } }));
  const policies = await times(12, () => api.policies.createPolicy({ body: { name: 'short-lived' } }));
  const keys = await times(12, () => owner.client(keysArea).createKey({ body: { label: 'short-lived' } }));
  const webhooks = await times(12, () =>
    api.webhooks.createWebhook({ body: { url: receiver, events: ['intent.created'] } }),
  );
  const { id: passkeyId } = await aPasskey({ config: { publicUrl: installation.ready.apiUrl } }, owner);
  const intent = await api.intents.declareIntent({
    body: { agentId: agents[0]?.id ?? '', purpose: 'a thing', expectedAmountEuros: 1 },
  });
  const evidence = await times(8, () => api.evidence.createEvidence({ body: { intentId: intent.id } }));
  const rotated = await times(4, () => api.agents.createAgent({ body: { name: 'rotated' } }));
  return {
    evd: evidence.map(({ id }) => id),
    psk: [passkeyId],
    'rotatePrimaryCard-ag': rotated.slice(0, 2).map(({ id }) => id),
    'rotateCard-ca': rotated.slice(2).map(({ cardId }) => cardId ?? ''),
    'freezeCard-ca': frozen.slice(0, 4).map(({ cardId }) => cardId ?? ''),
    ag: agents.map(({ id }) => id),
    'unfreezeAgent-ag': frozen.slice(0, 4).map(({ id }) => id),
    'unfreezePrimaryCard-ag': frozen.slice(4, 6).map(({ id }) => id),
    ca: agents.map(({ cardId }) => cardId ?? ''),
    'unfreezeCard-ca': frozen.slice(6).map(({ cardId }) => cardId ?? ''),
    po: policies.map(({ id }) => id ?? ''),
    wal: wallets.map(({ id }) => id),
    wh: webhooks.map(({ id }) => id),
    tok: tokens.map(({ id }) => id),
    key: keys.map(({ id }) => id),
    ...(await words(installation, owner)),
  };
}

async function words({ sandboxUrl, sql }: Installation, { ownerId }: Owner): Promise<KnownValues> {
  const cards = await sql<{ card_ref: string }>('select card_ref from cards where owner_id = $1', [ownerId]);
  const holds = await sql<{ authorization_id: string }>(
    'select authorization_id from transactions where authorization_id is not null limit 5',
  );
  return {
    own: [ownerId],
    cardRef: cards.map(({ card_ref }) => card_ref),
    authorizationId: [...holds.map(({ authorization_id }) => authorization_id), `auth_${randomUUID()}`],
    targetUrl: [500, 6000].map((amountCents) => `${sandboxUrl}/shops/sandbox-shop?amountCents=${amountCents}`),
    url: [`${sandboxUrl}/receiver/${ownerId}`],
    presetId: ['strict', 'balanced', 'open'],
    events: ['*', 'intent.created', 'card.frozen'],
    // In any other currency a message of the network is a 409.
    currency: ['EUR'],
    // Not below any default.
    'updateLimit-limit': [1_000_000],
  };
}

async function times<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(await make());
  return made;
}
