/** Faults between owners, between agents, and between kinds of caller. @module */
import { type Fault, faultsIn } from '../fault.ts';

export const isolationFaults: readonly Fault[] = [
  ...faultsIn(
    'isolation',
    'src/http/caller.ts',
    ['test/api/every-operation'],
    [
      {
        from: 'if (row === null || row.ownerId !== own.ownerId) throw notFound(noun, id);',
        to: 'if (row === null) throw notFound(noun, id);',
        harm: 'an owner reads and changes another owner’s records',
        tests: ['test/api/spending/evidence.api'],
      },
      {
        from: 'if (own.agentId !== undefined && row.agentId !== own.agentId) {',
        to: 'if (own.agentId !== undefined && row.agentId != null && row.agentId !== own.agentId) {',
        harm: 'an agent’s token reaches records of the owner',
        tests: ['test/api/treasury/transfers.agents', 'test/api/every-operation'],
      },
      {
        from: "const agentOf = ({ caller }: Call): Id<'agent'> | undefined => (caller.kind === 'agent' ? caller.agentId : undefined);",
        to: "const agentOf = ({ caller }: Call): Id<'agent'> | undefined => (caller.kind === 'agent' && caller.scopes.includes('*') ? caller.agentId : undefined);",
        harm: 'an agent’s token with few scopes reaches every agent of its owner',
        tests: ['test/api/identity/agent-tokens', 'test/api/every-operation'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/reaches.ts',
    ['test/api/every-operation', 'test/architecture/reaches'],
    [
      {
        from: 'if (own.agentId === undefined || own.agentId === agentId) return undefined;',
        to: 'return undefined;',
        harm: 'an agent filters a list by another agent',
        named: 'an agent sees its own transfers',
        tests: ['test/api/treasury/transfers.agents', 'test/api/every-operation'],
      },
      {
        from: 'return Array.isArray(inner) ? inner : [inner];',
        to: 'return Array.isArray(inner) ? inner.slice(0, 1) : [inner];',
        harm: 'only the first id of a list is compared with its owner',
        tests: ['test/architecture/reaches'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/scopes.ts',
    ['test/rules/identity', 'test/api/identity/agent-tokens'],
    [
      {
        from: "  'cards.reveal',\n  'transfers.write',\n  'collect.pay',",
        to: "  'transfers.write',\n  'collect.pay',",
        harm: 'a token with `*` shows card numbers',
      },
      {
        from: "held.includes(wanted) || (held.includes('*')",
        to: "held.some((scope) => wanted.startsWith(scope.split('.')[0] ?? '')) || (held.includes('*')",
        harm: 'a token that may read may also write',
        tests: ['test/api/identity/agent-tokens', 'test/api/every-operation'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/authenticate.ts',
    ['test/api/every-operation', 'test/api/platform/dashboard'],
    [
      {
        from: "if (!credentials.dashboard(secret, client)) throw new DomainError('unauthenticated', 'wrong dashboard secret');",
        to: 'credentials.dashboard(secret, client);',
        harm: 'any secret opens the dashboard',
        tests: ['test/api/platform/dashboard'],
      },
      {
        from: 'if (!kinds.includes(caller.kind)) {',
        to: "if (!kinds.includes(caller.kind) && caller.kind !== 'agent') {",
        harm: 'an agent’s token does what only its owner may',
        tests: ['test/api/identity/agent-tokens', 'test/api/every-operation'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/client-address.ts',
    ['test/api/security/hostile-requests', 'test/api/platform/edge'],
    [
      {
        from: 'if (socket === undefined || forwarded === undefined || !isTrusted(socket, trusted)) return socket;',
        to: 'if (socket === undefined || forwarded === undefined) return socket;',
        harm: '`X-Forwarded-For` is believed from any caller, so limits count invented addresses',
      },
      {
        from: "address.toNormalizedString().split(':').slice(0, 4).join(':')",
        to: 'address.toNormalizedString()',
        harm: 'one IPv6 client has as many limits as it has addresses',
        tests: ['test/rules/identity/dashboard-secret', 'test/api/platform/edge'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/failure-limit.ts',
    ['test/rules/identity/dashboard-secret'],
    [
      {
        from: 'if (recent !== undefined && recent.count >= failuresPerMinute)',
        to: 'if (recent !== undefined && recent.count > failuresPerMinute * 1_000)',
        harm: 'the dashboard’s secret can be guessed without a limit',
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/platform/redact.ts',
    ['test/platform/redact', 'test/secrets'],
    [
      {
        from: 'networkkey clockkey xclockkey dashboardsecret xdashboardsecret cvc cvv\n   pan',
        to: 'networkkey clockkey xclockkey dashboardsecret xdashboardsecret cvc\n   pan',
        harm: 'a card’s check value reaches the log',
        tests: ['test/platform/redact'],
        named: 'values under secret names',
      },
      {
        from: "const databaseFields = ['code', 'severity', 'schema',",
        to: "const databaseFields = ['detail', 'code', 'severity', 'schema',",
        harm: 'an error of the database logs a whole row',
        tests: ['test/secrets/database-errors'],
      },
    ],
  ),
  ...faultsIn(
    'isolation',
    'src/http/idempotency.ts',
    ['test/api/platform/idempotency'],
    [
      {
        from: 'const keyOf = ({ ownerId, callerKind, agentId, key }: RequestKey) => [ownerId, callerKind, agentId, key];',
        to: "const keyOf = ({ ownerId, callerKind, key }: RequestKey) => [ownerId, callerKind, '', key];",
        harm: 'an agent gets the stored answer of another agent with the same key',
        tests: ['test/api/platform/idempotency', 'test/api/every-operation'],
      },
      {
        from: "if (!row.mayReveal) throw conflict('answered before; its secret is no longer shown');",
        to: '',
        harm: 'a repeat shows a secret for a day',
        tests: ['test/api/identity/keys.api'],
        named: 'ten minutes',
      },
    ],
  ),
];
