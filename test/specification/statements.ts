/** The sentences of the specification that are in no table, each with the facts that it states. @module */
import { general } from './areas.ts';
import type { Claim, Fact } from './facts.ts';

const of =
  (area: string) =>
  (...ids: string[]): Fact[] =>
    ids.map((id) => ({ id, area, claim: { kind: 'said' } }));
const all = of(general);
const webhooks = of('Webhooks');
const passkeys = of('Passkeys');
const mpp = of('MPP');

const claimed = (area: string, id: string, claim: Claim): Fact => ({ id, area, claim });
const alias = (area: string, path: string): Fact => claimed(area, `alias:${path}`, { kind: 'alias', path });
const mayCarryKey = (area: string, prefix: string, operation: string): Fact =>
  claimed(area, `header:POST ${prefix}/*:Idempotency-Key`, {
    kind: 'header',
    operation,
    name: 'Idempotency-Key',
    isRequired: false,
  });

export const statements: Readonly<Record<string, readonly Fact[]>> = {
  // What the service does
  'The service provides payments infrastructure for autonomous software agents': [],
  'It is fiat-based (no cryptocurrency), keeps all data in the EU, and offers virtual cards and SEPA transfers that agents use under owner-defined rules':
    all('money:euros only'),

  // Conventions
  'Every response carries the header `X-Data-Residency: EU`': all('header:X-Data-Residency EU'),
  'Request and response bodies are JSON (`Content-Type: application/json`)': all('bodies:JSON'),
  'All endpoints except `/health` and `/` require a bearer token (see Authentication)': all('auth:bearer token'),
  'POST requests under `/agents/*`, `/intents/*`, `/checkout/*` and `/cards/*` accept the header `Idempotency-Key`': [
    mayCarryKey('Agents', '/agents', 'POST /agents/{id}/fund'),
    mayCarryKey('Intents', '/intents', 'POST /intents'),
    mayCarryKey('Checkout', '/checkout', 'POST /checkout/execute'),
    mayCarryKey('Cards', '/cards', 'POST /cards/agent/{agentId}'),
  ],
  'List endpoints use cursor pagination: query parameters `cursor` and `limit`; the response carries `data`, `hasMore` and `nextCursor`':
    all('pages:cursor and limit', 'pages:data hasMore nextCursor'),

  // Endpoints
  'The service requests `url`.': mpp('mpp-pay-step:1'),
  "It parses the payment challenge in the 402 response's `WWW-Authenticate` header.": mpp('mpp-pay-step:2'),
  'It mints a credential wrapped as a JWE, bound to the given intent and card.': mpp('mpp-pay-step:3'),
  'It repeats the request with an `Authorization: Payment` header.': mpp('mpp-pay-step:4'),
  "It returns the merchant's response body and the payment receipt that proves settlement.": mpp('mpp-pay-step:5'),
  'Adds a merchant protection rule (allowlist or denylist) for machine payments': mpp('mpp-rules:added'),
  'The response description is rule created; its status code and body: not shown': [],
  'Marks an intent completed after the payment form was filled outside the service': of('Checkout')(
    'confirm:marks the intent completed',
  ),
  'Rule 1: when the caller has exactly one enrolled passkey, revocation needs no assertion.':
    passkeys('passkey-rule:1'),
  'Rule 2: when the caller has two or more enrolled passkeys, the request must carry an assertion made by a different enrolled passkey.':
    passkeys('passkey-rule:2'),
  'Rule 3: revoking the passkey that produced the assertion (self-revoke) returns 403.': passkeys('passkey-rule:3'),
  "Toggles one field of an agent's effective policy": of('Policies')('toggle:one field'),
  'All are GET, need the bearer token, and take the path parameter shown': [],
  'Token creation `POST /agents/{id}/tokens` is the only other operation given by path': [
    claimed('Agent Tokens', 'path:POST /agents/{id}/tokens', {
      kind: 'path',
      method: 'post',
      path: '/agents/{id}/tokens',
    }),
  ],

  // Authentication
  'Every endpoint except `/health` and `/` requires the header `Authorization: Bearer <token>`':
    all('auth:bearer token'),
  'Test-mode keys use the test prefixes; live keys use the live prefixes or the plain prefix': all(
    'token-prefix:test in test mode',
    'token-prefix:live or plain in live mode',
  ),
  'Missing or invalid credentials yield 401 with body `{error}`': all('auth:401 with an error'),
  'Revoking a passkey additionally requires a WebAuthn assertion when two or more passkeys exist (see Endpoints)':
    passkeys('passkey-rule:2'),
  'Webhook deliveries are authenticated by signature (see Events)': webhooks('signature:message'),
  'Merchant Applications and Security Incidents accept a dashboard secret only; how that secret is presented: not shown':
    [...of('Merchant Applications')('auth:dashboard only'), ...of('Security Incidents')('auth:dashboard alone')],

  // Events
  'The service sends signed HTTP notifications to subscribed URLs': webhooks('delivery:to subscribed URLs'),
  'Every state-changing operation fires an event': all('events:each change fires one'),
  'Created with `POST /webhooks`': [],
  'The list `["*"]` subscribes to all events': webhooks('subscription:all events'),
  'The subscription response includes a `secret` used for signing': webhooks('signature:key'),
  'Scheme may be HTTPS or HTTP (HTTPS recommended in production).': webhooks('url-rule:1'),
  'Localhost is refused.': webhooks('url-rule:2'),
  'Private ranges 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 are refused.': webhooks('url-rule:3'),
  'Link-local 169.254.0.0/16 is refused, as are the metadata address 169.254.169.254 and the cloud metadata hostname.':
    webhooks('url-rule:4'),
  'The address is checked again at delivery time to defeat DNS rebinding.': webhooks('url-rule:5'),
  'Body (JSON): `event` (string, event name), `createdAt` (string, ISO 8601 date-time with milliseconds, UTC), `data` (object)':
    webhooks('delivery-body:event', 'delivery-body:createdAt with milliseconds in UTC', 'delivery-body:data'),
  'For `transaction.completed`, `data` holds `transactionId`, `agentId`, `intentId` (strings), `amountEuros` (number), `merchant` (string), `status` (string)':
    of('Transactions')('event-data:transaction.completed'),
  'The signed message is the delivery id, a dot, the timestamp, a dot, and the raw request body, concatenated as text':
    webhooks('signature:message'),
  'The key is the subscription `secret`': webhooks('signature:key'),
  'The header value is `sha256=` followed by the hex digest': webhooks('signature:sha256=hex'),
  'A background poller runs every 30 seconds and claims pending deliveries so that several API instances never deliver the same one twice':
    webhooks('poller:every 30 seconds', 'poller:never twice'),
  'Receivers must answer with a 2xx status within 30 seconds': webhooks(
    'limit:Webhook acknowledgement:2xx within 30 seconds',
  ),

  // Errors
  'Error bodies are JSON with one field `error` (string, human-readable message)': all('field:Error body.error'),

  // Versioning
  'The interface description carries version 0.5.0': all('version:0.5.0'),
  'Some paths carry a `/v1` prefix (`/v1/mpp/pay`, `/v1/agent-credentials`); others have none': mpp('prefix:/v1'),
  'Alias paths exist: `/accounts` for wallets, `/payments` for transfers, `/vendors` for beneficiaries, `/workflows` for runs, `/authorizations` for delegations, `/bills` for statements, `/claim` and `/collect` for each other':
    [
      alias('Wallets', '/accounts'),
      alias('Transfers', '/payments'),
      alias('Beneficiaries', '/vendors'),
      alias('Runs', '/workflows'),
      alias('Delegations', '/authorizations'),
      alias('Statements', '/bills'),
      alias('Collect', '/claim'),
      alias('Collect', '/collect'),
    ],
  'Collect events keep the legacy `claim.*` names': of('Collect')('events:legacy claim names'),
};

/** Introductions, references and advice for receivers: sentences that state no behaviour of the service. */
export const saysNothing: ReadonlySet<string> = new Set([
  'This document covers the whole published interface of the service: purpose, resources, states, endpoints, authentication, webhook events, errors, limits and versioning',
  'It is the only document',
  'Addresses are written as {base_url}',
  'Functional areas (API tags):',
  'Create request (`PolicyCreateRequest`, JSON object)',
  'Only `name` is required',
  'Policy record (`Policy`, returned on creation)',
  'No field is marked required',
  'The record does not list `allowedMccs`, `blockedMccs` or `attestationWindowMinutes`',
  'Named states and lifecycle moves visible from operation summaries and event names (no transition rules are implied by this list):',
  'Path parameters are written in braces',
  'Behavior:',
  'The URL must satisfy the rules under Events',
  'Two token kinds are accepted:',
  'Headers:',
  'Receivers compare in constant time',
  'Receivers should verify the signature before processing, treat handlers as idempotent (the same event may arrive more than once), and reject old timestamps',
  'Status codes in use:',
]);
