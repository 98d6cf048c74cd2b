/**
 * The shared parts of every Bursar process: database, clock, vault, gateway, log, and the dependencies of several
 * areas. Opens and closes them; decides nothing.
 * @module
 */
import * as z from 'zod';
import { allowAllRisk } from '../adapters/risk/allow-all.ts';
import { createEuSanctionsFile } from '../adapters/sanctions/eu-file.ts';
import { noSanctionsList } from '../adapters/sanctions/no-list.ts';
import { type Database, databaseOf } from '../db/database.ts';
import { type AnyEntity, type Orm, openDatabase } from '../db/orm.ts';
import { oneRowOf, runSql } from '../db/statement.ts';
import { type ApprovalLinks, createApprovalLinks } from '../domains/identity/approvals/approval-link.service.ts';
import { type RelyingParty, relyingPartyOf } from '../domains/identity/passkeys/relying-party.ts';
import type { RiskEngine } from '../domains/spending/risk/risk.port.ts';
import type { SanctionsList } from '../domains/treasury/beneficiaries/sanctions.port.ts';
import { type Clock, createClock } from '../platform/clock.ts';
import { createLogger, type Logger, type LogOptions } from '../platform/log.ts';
import { createTemporal, type Temporal } from '../temporal/connection.ts';
import { createGateway, type WorkflowGateway } from '../temporal/gateway.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import type { WorkflowRegistry } from '../temporal/workflow-registry.ts';
import { challengeIntent, type IntentChallenge } from '../usecases/spending/attest-intent.ts';
import { createVault, type Vault } from '../vault/vault.ts';
import { readVaultKeys, vaultCheck } from '../vault/vault-keys.ts';
import type { Config } from './config.ts';

export type Infrastructure = {
  readonly config: Config;
  readonly log: Logger;
  readonly orm: Orm;
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  /** Seals and opens the links by which people decide. */
  readonly links: ApprovalLinks;
  readonly risk: RiskEngine;
  readonly sanctions: SanctionsList;
  readonly relyingParty: RelyingParty;
  readonly intentChallenge: IntentChallenge;
  readonly temporal: Temporal;
  readonly gateway: WorkflowGateway;
  close(): Promise<void>;
};

type InfrastructureOptions = {
  readonly name: string;
  readonly entities: readonly AnyEntity[];
  readonly workflows: WorkflowRegistry;
  /** Instead of stdout. */
  readonly logTo?: LogOptions['destination'] | undefined;
};

export async function openInfrastructure(
  config: Config,
  { name, entities, workflows, logTo }: InfrastructureOptions,
): Promise<Infrastructure> {
  const destination = logTo === undefined ? {} : { destination: logTo };
  const log = createLogger({ name, level: config.LOG_LEVEL, ...destination });
  const orm = await openDatabase({
    url: config.DATABASE_URL,
    entities,
    poolSize: config.BURSAR_POOL_SIZE,
    poolTimeoutMs: config.BURSAR_POOL_TIMEOUT_MS,
    applicationName: `bursar-${name}`,
  });
  const database = databaseOf(orm);
  const vault = createVault({ keys: readVaultKeys(config.BURSAR_VAULT_KEY) });
  await checkVault(database, vault);
  const temporal = createTemporal({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    security: config.temporalSecurity,
  });
  const relyingParty = relyingPartyOf(config.publicUrl);
  const queues = taskQueues(config.BURSAR_TASK_QUEUE_PREFIX);
  return {
    config,
    log,
    orm,
    database,
    clock: createClock(database, config.BURSAR_MODE),
    vault,
    links: createApprovalLinks({ vault, publicUrl: config.publicUrl }),
    risk: allowAllRisk,
    sanctions: sanctionsOf(config, log),
    relyingParty,
    intentChallenge: challengeIntent({ database, relyingParty }),
    temporal,
    gateway: createGateway({ database, temporal, log, workflows, queues }),
    close: async () => {
      await temporal.close();
      await orm.close();
    },
  };
}

const sanctionsOf = ({ BURSAR_SANCTIONS_FILE: path }: Config, log: Logger): SanctionsList =>
  path === undefined ? noSanctionsList : createEuSanctionsFile({ path, log });

/** The first start leaves a check value; every later one proves its key with it. */
export async function checkVault(database: Database, vault: Vault): Promise<void> {
  await runSql(
    database.read(),
    `insert into deployment_facts (name, value) values ('vault_check', $1) on conflict (name) do nothing`,
    [await vaultCheck.create(vault)],
  );
  const fact = await oneRowOf(
    database.read(),
    z.object({ value: z.string() }),
    `select value from deployment_facts where name = 'vault_check'`,
  );
  await vaultCheck.verify(vault, fact.value);
}

/** What a wallet's IBAN is made of. */
export const ibanIssueOf = (config: Config) => ({
  mode: config.BURSAR_MODE,
  ibanBankCode: config.BURSAR_IBAN_BANK_CODE,
});
