/**
 * The environment of the API and the worker, read once and checked as a whole: one error lists everything that is
 * wrong. Secrets leave this module only inside the returned object.
 * @module
 */
import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { defaultPoolTimeoutMs } from '../db/orm.ts';
import { inOurWords } from '../http/validation-words.ts';
import type { UrlRules } from '../outbound/address-rules.ts';
import { type TemporalSecurity, temporalSecurity } from '../temporal/security.ts';

const secret = z.string().min(32, 'must be at least 32 characters of randomness');
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
const port = z.coerce.number().int().min(0).max(65_535);
/** A list of some of these names; without one, all of them. */
const oneOrMore = <const Name extends string>(...names: readonly Name[]) =>
  list.pipe(z.array(z.enum(names))).transform((given) => (given.length === 0 ? names : given));
const onOff = z.enum(['on', 'off', 'true', 'false']).transform((text) => text === 'on' || text === 'true');

const origin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text.replace(/\/$/, '');
const network = (text: string): boolean => (text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text));

const environment = z
  .object({
    BURSAR_MODE: z.enum(['sandbox', 'live']).default('sandbox'),
    BURSAR_DATA_DIR: z.string().min(1).default('.bursar'),
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: port.default(8400),
    BURSAR_PUBLIC_URL: z.url().max(400).optional(),
    DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address'),
    TEMPORAL_ADDRESS: z
      .string()
      .regex(/^[^\s/]+:\d+$/, 'must be host:port')
      .default('127.0.0.1:7233'),
    TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
    /** The address of Temporal's Web UI, for links that an owner's key gets. */
    TEMPORAL_UI_URL: z.url().max(400).optional(),
    TEMPORAL_API_KEY: z.string().min(1).optional(),
    TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().min(1).optional(),
    TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().min(1).optional(),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().min(1).optional(),
    TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
    BURSAR_TASK_QUEUE_PREFIX: z
      .string()
      .regex(/^[\w-]{1,60}$/, 'must be 1 to 60 letters, digits, _ or -')
      .default('bursar'),
    BURSAR_API_KEY: z
      .string()
      .regex(/^sk_\w{20,}$/, 'must be an API key, sk_…')
      .optional(),
    BURSAR_DASHBOARD_SECRET: z
      .string()
      .default('')
      .transform((text) => text.split(',').filter((part) => part !== '')),
    /** Reads the sandbox's business clock, and opens nothing else. */
    BURSAR_CLOCK_KEY: secret.optional(),
    BURSAR_VAULT_KEY: z.string().min(1, 'is needed: 32 bytes in base64'),
    BURSAR_NETWORK_KEY: secret.optional(),
    /** Files to and from the bank; without it payments go to the bank of the sandbox. */
    BURSAR_BANK_FOLDER: z.string().min(1).optional(),
    /** Signs the files of the bank. */
    BURSAR_BANK_KEY: secret.optional(),
    /** Signs the ledger's checkpoints: the worker needs it, the API is never given it. */
    BURSAR_SIGNING_KEY: z
      .string()
      .includes('PRIVATE KEY', { message: 'must be an Ed25519 private key in PEM' })
      .optional(),
    BURSAR_MERCHANT_INVITE_CODES: list.refine(
      (codes) => codes.every((code) => /^[!-~]{8,64}$/.test(code)),
      'must be codes of 8 to 64 printable characters, separated by commas',
    ),
    BURSAR_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(100),
    BURSAR_INSTANCES: z.coerce.number().int().min(1).default(1),
    BURSAR_ALLOWED_ORIGINS: list.refine(
      (origins) => origins.every(origin),
      'must be origins such as http://127.0.0.1:8401',
    ),
    BURSAR_TRUSTED_PROXIES: list.refine((proxies) => proxies.every(network), 'must be addresses or networks'),
    /** Further names under which MCP clients reach the API, beside that of the public URL and loopback. */
    BURSAR_MCP_HOSTS: list.refine(
      (hosts) => hosts.every((host) => /^[\w.:[\]-]{1,253}$/.test(host)),
      'must be host names without ports, separated by commas',
    ),
    BURSAR_SANDBOX_URL: z.url().optional(),
    BURSAR_ALLOW_SIMULATED: onOff.default(false),
    BURSAR_SIGNAL_APPROVALS: onOff.optional(),
    BURSAR_WEBHOOKS_HTTPS_ONLY: onOff.default(false),
    /** Between the attempts of a delivery; the last one counts for all later attempts. */
    BURSAR_WEBHOOK_GAPS_SECONDS: z
      .string()
      .regex(/^[1-9]\d{0,5}(,[1-9]\d{0,5}){0,9}$/, 'must be one to ten whole numbers of seconds, separated by commas')
      .default('60,300,900,3600,14400')
      .transform((text) => text.split(',').map(Number)),
    BURSAR_DELIVERIES_KEPT_DAYS: z.coerce.number().int().min(7).max(3_650).default(90),
    BURSAR_EVENTS_KEPT_DAYS: z.coerce.number().int().min(100).max(3_650).default(400),
    BURSAR_IBAN_BANK_CODE: z
      .string()
      .regex(/^\d{8}$/, 'must be eight digits')
      .default('99999999'),
    /** The EU's consolidated sanctions list, XML 1.1; without it no name is compared. */
    BURSAR_SANCTIONS_FILE: z.string().min(1).optional(),
    BURSAR_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(20),
    BURSAR_POOL_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(defaultPoolTimeoutMs),
    /** From the arrival of an authorization to the begin of its decision. */
    BURSAR_DECISION_WAIT_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
    /** With one key of the card network, over all API processes. */
    BURSAR_NETWORK_MESSAGES_PER_SECOND: z.coerce.number().int().min(1).max(1_000_000).default(3_000),
    BURSAR_WORKER_QUEUES: oneOrMore('main', 'webhooks'),
    BURSAR_WORKER_LOOPS: oneOrMore('relay', 'deliveries', 'sealer', 'purge'),
    BURSAR_WORKER_ACTIVITY_SLOTS: z.coerce.number().int().min(4).max(1_000).default(40),
    BURSAR_WORKER_WORKFLOW_SLOTS: z.coerce.number().int().min(2).max(1_000).default(40),
    BURSAR_WORKER_CACHED_RUNS: z.coerce.number().int().min(2).max(100_000).default(400),
    /** How long a request that lost its process keeps its Idempotency-Key to itself. */
    BURSAR_IDEMPOTENCY_LEASE_SECONDS: z.coerce.number().int().min(5).max(600).default(60),
    BURSAR_METRICS_PORT: port.optional(),
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  })
  .superRefine((env, context) => {
    const refuse = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (env.BURSAR_DASHBOARD_SECRET.some((text) => text.length < 32)) {
      refuse('BURSAR_DASHBOARD_SECRET', 'must be at least 32 characters of randomness');
    }
    if (env.BURSAR_MODE === 'live' && env.BURSAR_IDEMPOTENCY_LEASE_SECONDS < 30) {
      refuse('BURSAR_IDEMPOTENCY_LEASE_SECONDS', 'must be at least 30 in live mode, longer than a request may take');
    }
    if (env.BURSAR_EVENTS_KEPT_DAYS < env.BURSAR_DELIVERIES_KEPT_DAYS) {
      refuse(
        'BURSAR_EVENTS_KEPT_DAYS',
        'must be at least BURSAR_DELIVERIES_KEPT_DAYS: a delivery without its event shows no payload and cannot be made again',
      );
    }
    if (env.BURSAR_MODE === 'live' && env.BURSAR_SANDBOX_URL !== undefined && !env.BURSAR_ALLOW_SIMULATED) {
      refuse('BURSAR_SANDBOX_URL', 'names a simulator; live refuses one unless BURSAR_ALLOW_SIMULATED=true');
    }
    if (env.BURSAR_MODE === 'sandbox' && env.BURSAR_SANDBOX_URL === undefined) {
      refuse('BURSAR_SANDBOX_URL', 'is needed in sandbox mode: where the simulated outside world answers');
    }
  });

/** Every variable that the API and the worker read. */
export const configNames: readonly string[] = Object.keys(environment.shape);

export type Config = z.output<typeof environment> & {
  readonly publicUrl: string;
  readonly temporalSecurity: TemporalSecurity;
  /** This process' share of the rate limit. */
  readonly ratePerMinute: number;
  /** Live accepts approvals by signal only with BURSAR_SIGNAL_APPROVALS=on; a sandbox unless it is `off`. */
  readonly signalsMayApprove: boolean;
};

/**
 * Throws one error that names every wrong or missing variable; values are never repeated. `needs`: what this process
 * needs besides what all do.
 */
export function readConfig(env: NodeJS.ProcessEnv, needs: readonly 'BURSAR_SIGNING_KEY'[] = []): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given, { error: inOurWords });
  const missing = needs.filter((name) => given[name] === undefined).map((name) => `  ${name}: is missing`);
  if (!parsed.success || missing.length > 0) {
    const issues = parsed.error?.issues ?? [];
    const lines = [...issues.map((issue) => `  ${String(issue.path[0])}: ${issue.message}`), ...missing];
    throw new Error(`the configuration is wrong:\n${lines.join('\n')}`);
  }
  const config = parsed.data;
  const security = temporalSecurity(config);
  return {
    ...config,
    temporalSecurity: security,
    publicUrl: config.BURSAR_PUBLIC_URL ?? `http://localhost:${config.PORT}`,
    ratePerMinute: Math.max(1, Math.floor(config.BURSAR_RATE_LIMIT_PER_MINUTE / config.BURSAR_INSTANCES)),
    signalsMayApprove: config.BURSAR_SIGNAL_APPROVALS ?? config.BURSAR_MODE === 'sandbox',
  };
}

/** Which URLs of callers may be dialled. */
export const urlRulesOf = (
  config: Pick<Config, 'BURSAR_ALLOWED_ORIGINS' | 'BURSAR_MODE'>,
): Pick<UrlRules, 'allowedOrigins' | 'namesAllowedOrigins'> => ({
  allowedOrigins: config.BURSAR_ALLOWED_ORIGINS,
  namesAllowedOrigins: config.BURSAR_MODE === 'sandbox',
});
