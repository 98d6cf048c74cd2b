/**
 * How many records a caller may have: one table with what is counted, for whom and how many. `assertBelowLimit` counts
 * and refuses. Plans limit agents and cards besides. A test compares docs/limits.md with it.
 * @module
 */

type Limit = {
  /** How many there may be unless the dashboard raised it for the owner. */
  readonly most: number;
  readonly per:
    | 'owner'
    | 'agent'
    | 'intent'
    | 'merchant'
    | 'purpose and subject'
    | 'owner and UTC day'
    | 'agent and UTC day';
  /** Reads on from a figure: `20 live tokens for this agent`. */
  readonly counted: string;
  readonly remedy: string;
  /** The operations that create what is counted. */
  readonly operations: readonly string[];
  /** The rows that count, in SQL: `given.owner`, `given.subject` and `given.at` (business time) are the call's. */
  readonly rows: string;
};

export const limits = {
  keys: {
    most: 20,
    per: 'owner',
    counted: 'live API keys',
    remedy: 'revoke one first',
    operations: ['createKey'],
    rows: 'api_keys r where r.owner_id = given.owner and r.revoked_at is null',
  },
  agent_tokens: {
    most: 20,
    per: 'agent',
    counted: 'live tokens for this agent',
    remedy: 'revoke one first',
    operations: ['createAgentToken'],
    // Tokens expire in real time.
    rows: `agent_tokens r where r.agent_id = given.subject and r.revoked_at is null
      and (r.expires_at is null or r.expires_at > clock_timestamp())`,
  },
  passkeys: {
    most: 20,
    per: 'owner',
    counted: 'enrolled passkeys',
    remedy: 'remove one first',
    operations: ['finishPasskeyRegistration', 'finishEnrolment'],
    rows: 'passkeys r where r.owner_id = given.owner and r.revoked_at is null',
  },
  passkey_invitations: {
    most: 20,
    per: 'owner',
    counted: 'open invitations to enrol a passkey',
    remedy: 'revoke one first, or wait until one expires',
    operations: ['createPasskeyInvitation'],
    // Invitations expire in real time.
    rows: `passkey_invitations r where r.owner_id = given.owner and r.revoked_at is null and r.passkey_id is null
      and r.expires_at > clock_timestamp()`,
  },
  challenges: {
    most: 5,
    per: 'purpose and subject',
    counted: 'open challenges for this',
    remedy: 'answer one, or wait five minutes until they expire',
    operations: [
      'startPasskeyRegistration',
      'createPasskeyChallenge',
      'createIntentChallenge',
      'createApprovalChallenge',
      'startEnrolment',
      'createDeviceChallenge',
    ],
    rows: `passkey_challenges r where r.owner_id = given.owner and r.used_at is null and r.expires_at > clock_timestamp()
      and r.purpose || '/' || coalesce(r.subject_id, '') = given.subject`,
  },
  agents: {
    most: 1_000,
    per: 'owner',
    counted: 'agents that are not closed',
    remedy: 'close one first',
    operations: ['createAgent'],
    rows: `agents r where r.owner_id = given.owner and r.status <> 'closed'`,
  },
  cards: {
    most: 50,
    per: 'agent',
    counted: 'cards of this agent that are not closed',
    remedy: 'close one first',
    operations: ['issueAgentCard'],
    rows: `cards r where r.agent_id = given.subject and r.status <> 'closed'
      and not (r.is_provisioning and r.replaces_card_id is not null)`,
  },
  card_requests: {
    most: 20,
    per: 'agent',
    counted: 'pending card requests of this agent',
    remedy: 'have one decided, or cancel one first',
    operations: ['createCardRequest'],
    rows: `card_requests r where r.agent_id = given.subject and r.status = 'pending' and r.expires_at > given.at`,
  },
  wallets: {
    most: 100,
    per: 'owner',
    counted: 'wallets that are not closed',
    remedy: 'close one first',
    operations: ['createWallet'],
    rows: `wallets r where r.owner_id = given.owner and r.status <> 'closed'`,
  },
  fundings: {
    most: 1_000,
    per: 'owner and UTC day',
    counted: 'top-ups today',
    remedy: 'go on tomorrow (UTC)',
    operations: ['fundWallet', 'fundWalletById'],
    rows: `fundings r where r.owner_id = given.owner
      and r.created_at >= date_trunc('day', given.at, 'UTC')`,
  },
  transfers: {
    most: 1_000,
    per: 'agent and UTC day',
    counted: 'transfers and splits of this agent today',
    remedy: 'go on tomorrow (UTC)',
    operations: ['createTransfer', 'createTransferSplit'],
    // A split counts once, by its first line.
    rows: `transfers r where r.agent_id = given.subject and (r.split_line is null or r.split_line = 0)
      and r.created_at >= date_trunc('day', given.at, 'UTC')`,
  },
  policies: {
    most: 100,
    per: 'owner',
    counted: 'policies of your own that belong to no agent',
    remedy: 'delete one first',
    operations: ['createPolicy'],
    rows: 'policies r where r.owner_id = given.owner and r.agent_id is null and r.removed_at is null',
  },
  open_intents: {
    most: 100,
    per: 'agent',
    counted: 'open intents of this agent',
    remedy: 'cancel one first, or wait until one is paid or expires',
    operations: ['declareIntent', 'authorizeCardPayment', 'handlePaymentChallenge', 'allowTransactionOnce'],
    rows: `intents r where r.agent_id = given.subject and r.status in ('pending_approval', 'approved')
      and (r.expires_at > given.at or r.matched_transaction_id is not null or r.transfer_id is not null
        or r.open_payment_id is not null)`,
  },
  waiting_intents: {
    most: 20,
    per: 'agent',
    counted: 'intents of this agent that wait for a person',
    remedy: 'have one decided, or cancel one first',
    operations: ['declareIntent', 'authorizeCardPayment', 'handlePaymentChallenge'],
    rows: `intents r where r.agent_id = given.subject and r.status = 'pending_approval' and r.expires_at > given.at`,
  },
  evidence: {
    most: 100,
    per: 'intent',
    counted: 'pieces of evidence for this intent',
    remedy: 'delete one first',
    operations: ['createEvidence'],
    rows: 'evidence r where r.intent_id = given.subject',
  },
  merchants: {
    most: 20,
    per: 'owner',
    counted: 'registered merchants',
    remedy: 'use another owner',
    operations: ['createMerchant'],
    rows: 'merchants r where r.owner_id = given.owner',
  },
  merchant_keys: {
    most: 100,
    per: 'merchant',
    counted: 'encryption keys of this merchant, former ones included',
    remedy: 'register another merchant',
    operations: ['createMerchantEncryptionKey'],
    rows: 'merchant_encryption_keys r where r.merchant_id = given.subject',
  },
  protect_rules: {
    most: 500,
    per: 'owner',
    counted: 'protect rules',
    remedy: 'delete one first',
    operations: ['createProtectRule'],
    rows: 'protect_rules r where r.owner_id = given.owner',
  },
  checkouts: {
    most: 100,
    per: 'intent',
    counted: 'checkouts of this intent',
    remedy: 'declare another intent',
    operations: ['executeCheckout'],
    rows: 'checkouts r where r.intent_id = given.subject',
  },
  mpp_credentials: {
    most: 100,
    per: 'intent',
    counted: 'MPP credentials of this intent',
    remedy: 'declare another intent',
    operations: ['mintMppCredential'],
    rows: 'mpp_credentials r where r.intent_id = given.subject',
  },
  mpp_payments: {
    most: 100,
    per: 'intent',
    counted: 'machine payments of this intent',
    remedy: 'declare another intent',
    operations: ['payAtMerchant', 'executeCheckout'],
    rows: 'mpp_payments r where r.intent_id = given.subject',
  },
  simulations: {
    most: 1_000,
    per: 'owner and UTC day',
    counted: 'simulated charges today',
    remedy: 'go on tomorrow (UTC)',
    operations: ['simulateTransaction'],
    rows: `simulations r where r.owner_id = given.owner
      and r.created_at >= date_trunc('day', given.at, 'UTC')`,
  },
  webhooks: {
    most: 20,
    per: 'owner',
    counted: 'webhook subscriptions',
    remedy: 'delete one first',
    operations: ['createWebhook'],
    rows: 'webhooks r where r.owner_id = given.owner and r.deleted_at is null',
  },
  webhook_tests: {
    most: 1_000,
    per: 'owner and UTC day',
    counted: 'test deliveries today',
    remedy: 'go on tomorrow (UTC)',
    operations: ['testWebhook', 'testByLink'],
    rows: `webhook_test_events r where r.owner_id = given.owner
      and r.created_at >= date_trunc('day', given.at, 'UTC')`,
  },
  devices: {
    most: 20,
    per: 'owner',
    counted: 'devices that get notifications',
    remedy: 'remove one first',
    operations: ['createPushSubscription', 'createInvitedDevice'],
    rows: 'push_subscriptions r where r.owner_id = given.owner',
  },
  access_requests: {
    most: 1_000,
    per: 'agent and UTC day',
    counted: 'access requests of this agent today',
    remedy: 'go on tomorrow (UTC)',
    operations: ['requestCardAccess'],
    rows: `access_events r where r.agent_id = given.subject and r.kind = 'card_access'
      and r.created_at >= date_trunc('day', given.at, 'UTC')`,
  },
  beneficiaries: {
    most: 1_000,
    per: 'owner',
    counted: 'beneficiaries',
    remedy: 'delete one first',
    operations: ['createBeneficiary'],
    rows: 'beneficiaries r where r.owner_id = given.owner and r.is_saved and r.deleted_at is null',
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;

export const limitNames = Object.keys(limits) as [LimitName, ...LimitName[]];

/** Operations that create something and need no limit above, with the reason. */
export const boundedOtherwise: Readonly<Record<string, string>> = {
  createCustomer: 'one customer per owner',
  getOwnCustomer: 'one customer per owner',
  applyPolicy: 'one policy per agent',
  confirmCheckout: 'one transaction per intent',
  consumeMppCredential: 'one transaction per credential',
  consumeMppCredentialByChallenge: 'one transaction per credential',
  resolveMppPayment: 'one transaction per payment',
  testPushSubscription: 'a message of one hour for one device; the rate limit alone',
  recoverWebhookDeliveries: 'one delivery of each event that was neither received nor waits',
  redeliverWebhookDelivery: 'one delivery for each call; the rate limit alone',
  redeliverDeadLetters: 'one delivery of each dead letter, which leaves the queue',
  redeliverByLink: 'one delivery of each dead letter, which leaves the queue',
  createWebhookPageLink: 'one link per subscription',
  approveCardRequest: 'one card per request, and the limit of cards',
  approveByLink: 'one card per request, and the limit of cards',
  rotateCard: 'the new card takes the place of the old one',
  rotatePrimaryCard: 'the new card takes the place of the old one',
  receiveBankFile: 'tells of money that has come; a bank signs it',
  fundAgent: 'moves money within the wallet; the rate limit alone',
  clearCardPayment: 'moves money; 3,000 network messages a second for each key',
  reverseCardPayment: 'moves money; 3,000 network messages a second for each key',
  adviseCardPayment: 'what the network approved; 3,000 network messages a second for each key',
  refundCardPayment: 'moves money; 3,000 network messages a second for each key',
};
