/**
 * One successful call of each published operation, and how to make it: for tests that hold for all of them. Each call
 * prepares its own records, so that it may be made in any order and more than once.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { passkeysArea } from '../../src/domains/identity/index.ts';
import { approvalsArea } from '../../src/domains/spending/approvals/index.ts';
import { canonicalPath } from '../../src/http/openapi.ts';
import type { Operation } from '../../src/http/route.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { softPasskey } from './authenticator.ts';
import { aPasskey, type EnrolledPasskey, intentChallengeOf } from './factories/passkeys.ts';
import { clientsOf, type Records } from './factories/records.ts';
import type { Owner, World } from './world.ts';

export type Asked = {
  path?: Record<string, string>;
  query?: string;
  body?: object;
  headers?: Record<string, string>;
  as?: 'dashboard' | 'nobody';
  /** Another owner than the records'. */
  by?: Owner;
};
export type Ask = () => Asked | Promise<Asked>;

export function operationCalls(world: World, owner: Owner, records: Records): Readonly<Record<string, Ask>> {
  const api = () => clientsOf(owner);
  const anAgent = async () => (await api().agents.createAgent({ body: { name: 'another' } })).id;
  const aCard = async () => {
    const { cardId } = await api().agents.createAgent({ body: { name: 'cardholder' } });
    return cardId ?? '';
  };
  const anIntent = async (expectedAmountEuros: number) => {
    const agentId = await anAgent();
    const body = { agentId, purpose: 'a thing', expectedAmountEuros, expectedMerchant: 'Sandbox Shop' };
    return (await api().intents.declareIntent({ body })).id;
  };
  const passkeys = owner.client(passkeysArea);
  let enrolled: Promise<EnrolledPasskey> | undefined;
  /** The owner's first passkey, which vouches for whatever comes after it. */
  const ownPasskey = () => {
    enrolled ??= aPasskey(world, owner);
    return enrolled;
  };
  const attestationOf = async (intentId: string) => {
    const passkey = await ownPasskey();
    return { webauthnAssertion: passkey.answer(await intentChallengeOf(owner, intentId)) };
  };
  /** The approver's link of a fresh intent that waits. */
  const aLink = async () => {
    const { approvalUrl } = await api().intents.getIntent({ params: { id: await anIntent(60) } });
    return { as: 'nobody', path: { token: approvalUrl?.split('/').at(-1) ?? '' } } as const;
  };
  const id = (value: string): Asked => ({ path: { id: value } });
  const signed = (kind: 'authorizations' | 'clearings' | 'reversals', body: object): Asked => {
    const raw = JSON.stringify(body);
    const seconds = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', world.networkKey)
      .update(`${seconds}.POST /network/${kind}.${raw}`)
      .digest('hex');
    return { body, headers: { 'X-Network-Signature': `t=${seconds},v1=${signature}` } };
  };
  const merchant = { id: 'm_sandbox_shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };
  /** An authorization as the network sends it, for a fresh approved intent. */
  const authorization = async () => {
    const agentId = await anAgent();
    await api().intents.declareIntent({ body: { agentId, purpose: 'a thing', expectedAmountEuros: 5 } });
    const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where agent_id = $1', [agentId]);
    const message = {
      id: `auth_${randomUUID()}`,
      cardRef: card?.card_ref,
      amountCents: 500,
      currency: 'EUR',
      merchant,
    };
    return {
      ...message,
      kind: 'purchase',
      partialSupported: false,
      recurring: false,
      sentAt: new Date().toISOString(),
    };
  };
  const authorized = async () => {
    const message = await authorization();
    const { body, headers } = signed('authorizations', message);
    const answer = await fetch(`${world.apiUrl}/network/authorizations`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(await answer.json()).toMatchObject({ decision: 'approved' });
    return { authorizationId: message.id, cardRef: message.cardRef };
  };

  const calls: Readonly<Record<string, Ask>> = {
    getHealth: () => ({ as: 'nobody' }),
    getApiInformation: () => ({ as: 'nobody' }),
    createCustomer: async () => ({ by: await world.owner() }),
    getOwnCustomer: () => ({}),
    getCustomer: async () => {
      const [customer] = await world.sql<{ id: string }>('select id from customers where owner_id = $1', [
        owner.ownerId,
      ]);
      return id(customer?.id ?? '');
    },
    updateCustomer: async () => ({ ...(await calls.getCustomer?.()), body: { companyName: 'Bursar tests' } }),
    listLimits: () => ({}),
    updateLimit: () => ({
      as: 'dashboard',
      path: { name: 'wallets' },
      body: { limit: 150 },
      headers: { 'X-Owner-Id': owner.ownerId },
    }),
    createKey: () => ({ body: { label: 'second' } }),
    listKeys: () => ({}),
    revokeKeyByDelete: async () => id((await freshKey()).id),
    revokeKey: async () => id((await freshKey()).id),
    createAgent: () => ({ body: { name: 'one more' } }),
    listAgents: () => ({}),
    getAgent: () => id(records.agentId),
    getAgentWallet: () => id(records.agentId),
    updateAgent: () => ({ ...id(records.agentId), body: { scope: 'shopping' } }),
    closeAgent: async () => id(await anAgent()),
    fundAgent: async () => ({ ...id(await anAgent()), body: { amount: 1.5 } }),
    freezeAgent: async () => id(await anAgent()),
    unfreezeAgent: async () => {
      const agentId = await anAgent();
      await api().agents.freezeAgent({ params: { id: agentId }, body: {} });
      return id(agentId);
    },
    createAgentToken: () => ({ ...id(records.agentId), body: { label: 'more' } }),
    listAgentTokens: () => id(records.agentId),
    listAllAgentTokens: () => ({}),
    revokeAgentToken: async () => {
      const { id: tokenId } = await api().tokens.createAgentToken({ params: { id: records.agentId }, body: {} });
      return { path: { id: records.agentId, tokenId } };
    },
    startPasskeyRegistration: () => ({ body: { name: 'one more' } }),
    finishPasskeyRegistration: async () => {
      const voucher = await ownPasskey();
      const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: {} });
      const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
      const attestation = softPasskey(world.config.publicUrl).create(options);
      return { body: { challengeId, attestation, webauthnAssertion: voucher.answer(vouch) } };
    },
    listPasskeys: () => ({}),
    createPasskeyChallenge: async () => {
      await ownPasskey();
      return { body: { purpose: 'generic' } };
    },
    createIntentChallenge: async () => {
      await ownPasskey();
      return { path: { intentId: records.intentId } };
    },
    revokePasskey: async () => {
      const voucher = await ownPasskey();
      const { id: subjectId } = await aPasskey(world, owner, voucher);
      const challenge = await passkeys.createPasskeyChallenge({ body: { purpose: 'revoke_passkey', subjectId } });
      return { ...id(subjectId), body: { webauthnAssertion: voucher.answer(challenge) } };
    },
    attestIntent: async () => {
      const intentId = await anIntent(5);
      return { ...id(intentId), body: await attestationOf(intentId) };
    },
    createPolicy: () => ({ body: { name: 'fresh' } }),
    listPolicies: () => ({}),
    listPolicyPresets: () => ({}),
    getPolicyPreset: () => ({ path: { presetId: 'strict' } }),
    simulatePolicy: () => ({ body: { agentId: records.agentId, amount: 1 } }),
    getAgentPolicy: () => ({ path: { agentId: records.agentId } }),
    updateAgentPolicy: () => ({ path: { agentId: records.agentId }, body: { cooldownMinutes: 0 } }),
    applyPolicy: async () => ({ path: { agentId: await anAgent() }, body: { presetId: 'open' } }),
    toggleAgentPolicy: async () => ({
      path: { agentId: await anAgent() },
      body: { field: 'lockToFirstMerchant', value: true },
    }),
    getPolicy: () => id(records.policyId),
    updatePolicy: () => ({ ...id(records.policyId), body: { dailyLimitEuros: 3 } }),
    deletePolicy: async () => id((await api().policies.createPolicy({ body: { name: 'short-lived' } })).id ?? ''),
    declareIntent: async () => ({ body: { agentId: await anAgent(), purpose: 'x', expectedAmountEuros: 1 } }),
    listIntents: () => ({}),
    getIntent: () => id(records.intentId),
    approveIntent: async () => id(await anIntent(60)),
    denyIntent: async () => id(await anIntent(60)),
    cancelIntent: async () => id(await anIntent(5)),
    listIntentWindows: () => id(records.intentId),
    verifyIntent: () => ({ ...id(records.completedIntentId), body: { actualAmountEuros: 12.5 } }),
    createEvidence: () => ({ body: { intentId: records.intentId, type: 'receipt', amountEuros: 80 } }),
    listEvidence: () => ({ query: `intentId=${records.intentId}` }),
    getEvidence: () => id(records.evidenceId),
    deleteEvidence: async () => id((await api().evidence.createEvidence({ body: { intentId: records.intentId } })).id),
    getApproval: () => aLink(),
    createApprovalChallenge: async () => {
      await ownPasskey();
      return aLink();
    },
    approveByLink: async () => {
      const passkey = await ownPasskey();
      const link = await aLink();
      const params = { token: link.path.token };
      const challenge = await owner.client(approvalsArea).createApprovalChallenge({ params, body: {} });
      return { ...link, body: { webauthnAssertion: passkey.answer(challenge) } };
    },
    denyByLink: () => aLink(),
    listCards: () => ({}),
    listAgentCards: () => ({ path: { agentId: records.agentId } }),
    issueAgentCard: () => ({
      path: { agentId: records.agentId },
      body: { usage: 'single', purpose: 'one thing', name: 'single' },
    }),
    freezePrimaryCard: async () => ({ path: { agentId: await anAgent() } }),
    unfreezePrimaryCard: async () => {
      const agentId = await anAgent();
      await api().cards.freezePrimaryCard({ params: { agentId } });
      return { path: { agentId } };
    },
    closePrimaryCard: async () => ({ path: { agentId: await anAgent() } }),
    getCard: () => ({ path: { cardId: records.cardId } }),
    freezeCard: async () => ({ path: { cardId: await aCard() } }),
    unfreezeCard: async () => {
      const cardId = await aCard();
      await api().cards.freezeCard({ params: { cardId } });
      return { path: { cardId } };
    },
    closeCard: async () => ({ path: { cardId: await aCard() } }),
    updateCard: async () => ({ path: { cardId: await aCard() }, body: { displayName: 'Travel' } }),
    updateCardLimits: async () => ({ path: { cardId: await aCard() }, body: { dailyLimitEuros: 40 } }),
    getCardPolicy: () => ({ path: { cardId: records.cardId } }),
    rotateCard: async () => ({ path: { cardId: await aCard() } }),
    rotatePrimaryCard: async () => ({ path: { agentId: await anAgent() } }),
    executeCheckout: async () => ({
      body: { intentId: await anIntent(5), targetUrl: `${world.sandboxUrl}/shops/sandbox-shop?amountCents=500` },
    }),
    confirmCheckout: async () => ({
      body: { intentId: await anIntent(5) },
      headers: { 'Idempotency-Key': randomUUID() },
    }),
    listTransactions: () => ({}),
    getTransaction: () => id(records.transactionId),
    updateTransaction: () => ({ ...id(records.transactionId), body: { memo: `noted ${randomUUID()}` } }),
    simulateTransaction: async () => {
      const intentId = await anIntent(5);
      const { cardId } = await api().intents.getIntent({ params: { id: intentId } });
      return { body: { cardId, intentId } };
    },
    listWallets: () => ({}),
    createWallet: () => ({ body: { name: 'Travel' } }),
    getWallet: () => id(records.walletId),
    getWalletBalance: () => id(records.walletId),
    updateWallet: () => ({ ...id(records.walletId), body: { purpose: 'everything' } }),
    closeWallet: async () => id((await api().wallets.createWallet({ body: { name: 'short-lived' } })).id),
    fundWalletById: () => ({ ...id(records.walletId), body: { amountEuros: 1 } }),
    fundWallet: () => ({ body: { amountEuros: 1 } }),
    getFunding: () => id(records.fundingId),
    listLedgerEntries: () => ({}),
    getLedgerEntry: () => id(records.entryId),
    listLedgerAccounts: () => ({}),
    verifyLedger: () => ({ query: 'full=true' }),
    listLedgerCheckpoints: () => ({}),
    createWebhook: () => ({ body: { url: `${world.sandboxUrl}/receiver/other`, events: ['intent.created'] } }),
    listWebhooks: () => ({}),
    getWebhook: () => id(records.webhookId),
    deleteWebhook: async () => {
      const body = { url: `${world.sandboxUrl}/receiver/gone`, events: ['intent.created'] };
      return id((await api().webhooks.createWebhook({ body })).id);
    },
    listWebhookDeliveries: () => id(records.webhookId),
    getWebhookDelivery: () => ({ path: { deliveryId: records.deliveryId } }),
    listEventCatalog: () => ({}),
    authorizeCardPayment: async () => signed('authorizations', await authorization()),
    clearCardPayment: async () => {
      const more = {
        id: `clr_${randomUUID()}`,
        amountCents: 500,
        final: true,
        merchant,
        clearedAt: new Date().toISOString(),
      };
      return signed('clearings', { ...(await authorized()), ...more });
    },
    reverseCardPayment: async () => signed('reversals', { id: `rev_${randomUUID()}`, ...(await authorized()) }),
    getSandboxClock: () => ({ as: 'dashboard' }),
    advanceSandboxClock: () => ({ as: 'dashboard', body: { ms: 1 } }),
  };
  return calls;

  async function freshKey(): Promise<{ id: string }> {
    const answer = await fetch(`${world.apiUrl}/keys/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    return (await answer.json()) as { id: string };
  }
}

export type PublishedOperation = { readonly name: string; readonly operation: Operation; readonly path: string };

export const publishedOperations: readonly PublishedOperation[] = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
    name,
    operation,
    path: canonicalPath(area, operation) || '/',
  })),
);

/** Makes the call as whoever it is for; `headers` are added to its own. */
export function send(
  { world, owner }: { world: World; owner: Owner },
  { operation, path }: PublishedOperation,
  asked: Asked,
  headers: Record<string, string> = {},
): Promise<Response> {
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => asked.path?.[parameter] ?? 'missing');
  return fetch(`${world.apiUrl}${filled}${asked.query === undefined ? '' : `?${asked.query}`}`, {
    method: operation.method.toUpperCase(),
    headers: {
      ...credential(world, asked.by ?? owner, asked, operation),
      'Content-Type': 'application/json',
      ...asked.headers,
      ...headers,
    },
    ...(operation.method === 'get' ? {} : { body: JSON.stringify(asked.body ?? {}) }),
  });
}

function credential(world: World, owner: Owner, asked: Asked, operation: Operation): Record<string, string> {
  if (asked.as === 'nobody' || operation.auth.includes('network')) return {};
  if (asked.as === 'dashboard') return { 'X-Dashboard-Secret': world.dashboardSecret };
  return { Authorization: `Bearer ${owner.key}` };
}
