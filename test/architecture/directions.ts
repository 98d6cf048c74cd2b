/** The direction rules: who may import whom. Read by directions.test.ts. @module */
const domains = [
  'identity',
  'parties',
  'merchants',
  'treasury',
  'spending',
  'cards',
  'payments',
  'oversight',
  'insight',
  'delivery',
];

/** A domain imports only from domains above it. */
const order = domains.map((domain, index) => ({
  name: `${domain}-looks-up-only`,
  severity: 'error',
  from: { path: `^src/domains/${domain}/` },
  to: { path: `^src/domains/(${domains.slice(index + 1).join('|') || 'none'})/` },
}));

export const directions = [
  { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'kernel-alone',
    severity: 'error',
    from: { path: '^src/kernel/' },
    to: { pathNot: '^src/kernel/|(ibantools|any-ascii)' }, // Tables and arithmetic without dependencies.
  },
  {
    name: 'rules-are-pure',
    severity: 'error',
    from: { path: String.raw`\.(rules|messages)\.ts$`, pathNot: '^src/outbound/' },
    to: { pathNot: String.raw`^src/kernel/|\.(rules|messages)\.ts$|[.]port[.]ts$|^(node:)?crypto$` }, // A hash is arithmetic.
  },
  {
    name: 'workflows-import-five-things',
    severity: 'error',
    from: { path: '^workflows/' },
    to: {
      dependencyTypesNot: ['type-only'],
      pathNot: String.raw`^workflows/|^src/kernel/|\.(rules|messages)\.ts$|node_modules/@temporalio/(workflow|common)/`,
    },
  },
  {
    name: 'workflows-type-from-activities-only',
    severity: 'error',
    from: { path: '^workflows/' },
    to: {
      dependencyTypes: ['type-only'],
      pathNot: String.raw`^(workflows|activities|src/kernel)/|\.(rules|messages)\.ts$|node_modules/@temporalio/`,
    },
  },
  {
    name: 'src-knows-no-process',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/main/' },
    to: { path: '^(workflows|activities)/' },
  },
  {
    name: 'dev-is-for-developers',
    severity: 'error',
    from: { path: '^(src|activities|workflows)/', pathNot: '^src/dev/' },
    to: { path: '^src/dev/' },
  },
  {
    name: 'activities-know-no-workflow',
    severity: 'error',
    from: { path: '^activities/' },
    to: { path: '^workflows/' },
  },
  {
    name: 'platform-knows-no-domain',
    severity: 'error',
    from: { path: '^src/(http|db|events|temporal|client|platform|outbound|vault)/' },
    to: { path: '^src/(domains|adapters|usecases|main)/' },
  },
  {
    name: 'domains-know-no-adapter',
    severity: 'error',
    from: { path: '^src/domains/' },
    to: { path: '^src/(adapters|main|usecases|sandbox)/' },
  },
  {
    name: 'adapters-know-ports',
    severity: 'error',
    from: { path: '^src/adapters/' },
    to: { path: '^src/(domains|usecases|main|sandbox)/', pathNot: String.raw`\.port\.ts$` },
  },
  {
    name: 'sandbox-is-the-outside-world',
    severity: 'error',
    from: { pathNot: '^src/(sandbox|main)/' },
    to: { path: '^src/sandbox/' },
  },
  {
    name: 'usecases-are-for-composition',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/(usecases|main)/' },
    to: { path: '^src/usecases/' },
  },
  {
    name: 'mikro-orm-stays-below',
    severity: 'error',
    from: {
      path: '^(src|activities|workflows)/',
      pathNot: String.raw`^src/(db|main)/|\.(entity|service|queries)\.ts$|^src/usecases/`,
    },
    to: { path: 'node_modules/(@mikro-orm|kysely)/' },
  },
  {
    name: 'mcp-goes-through-the-edge',
    severity: 'error',
    from: { path: '^src/mcp/' },
    to: { path: '^src/', pathNot: '^src/(mcp|http|kernel|platform)/' },
  },
  {
    name: 'express-at-the-edge',
    severity: 'error',
    from: { path: '^(src|activities|workflows)/', pathNot: '^src/(http|main|sandbox)/' },
    to: { path: 'node_modules/express/' },
  },
  {
    name: 'contracts-are-shapes',
    severity: 'error',
    from: { path: String.raw`\.contract\.ts$` },
    to: { path: String.raw`\.(service|entity|routes|queries)\.ts$` },
  },
  {
    name: 'domains-by-their-face',
    severity: 'error',
    from: { path: '^src/domains/([^/]+)/' },
    to: {
      path: '^src/domains/([^/]+)/',
      pathNot: ['^src/domains/$1/', '/index[.]ts$', '[.](rules|messages|port)[.]ts$'],
    },
  },
  {
    name: 'one-door-outwards',
    severity: 'error',
    from: { path: '^(src|activities|workflows)/', pathNot: '^src/(outbound|sandbox|supervisor)/' },
    to: { path: 'node_modules/undici/' },
  },
  ...order,
];
