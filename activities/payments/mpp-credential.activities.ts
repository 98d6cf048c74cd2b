/**
 * Steps of an MPP credential that the worker runs, safe to repeat: mint it, and mark it when its time is over. The
 * credential goes from the processor to the row, sealed; no payload carries it.
 * @module
 */
import { readChallenge } from '../../src/domains/payments/mpp/challenge.wire.ts';
import { refused } from '../../src/domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import type { MppCredentialRow } from '../../src/domains/payments/mpp-credentials/mpp-credential.entity.ts';
import {
  findMppCredential,
  lockMppCredential,
  mppCredentialState,
} from '../../src/domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { isFinalCredential, isPastExpiry } from '../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import {
  closeCredentialRun,
  expireMppCredential as expire,
  refuseMppCredential,
} from '../../src/domains/payments/mpp-credentials/mpp-credential.service.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { Actor, Cause } from '../../src/platform/cause.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { type MintDeps, mintCredential } from '../../src/usecases/payments/mint-credential.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = MintDeps & { readonly clock: Clock };

/** Each activity answers with the row as it is after it. */
type CredentialState = ReturnType<typeof mppCredentialState>;

export const mppCredentialActivities = (deps: Deps) => {
  const mint = mintCredential(deps);
  return {
    readMppCredential: refusing(async (credentialId: string): Promise<CredentialState> => {
      const row = await known(deps, credentialId);
      // A payment may have left it to this run just when another transaction ended it, and found no run to close.
      if (isFinalCredential(row.status)) await closeCredentialRun(deps.database.read(), row.id);
      return stateOfRow(row);
    }),

    mintMppCredential: refusing(async (credentialId: string): Promise<CredentialState> => {
      const row = await known(deps, credentialId);
      const { id, intentId, cardId, challenge, origin = null, status } = row;
      if (status !== 'requested' || challenge == null) return stateOfRow(row);
      if (isPastExpiry(row, new Date())) return stateOfRow(await ended(deps, credentialId));
      const cause = await causeOf(deps, row, 'mint');
      const parameters = new Map(Object.entries(challenge));
      const reading = readChallenge({ scheme: 'payment', parameters, fault: undefined }, Date.now());
      if (reading.ok) {
        const { charge } = reading;
        await mint({ credentialId: id, intentId, cardId, paymentId: null, challenge, charge, origin }, cause);
      } else {
        const why = refused('challenge_expired', reading.reason);
        await deps.database.write(async (tx) => refuseMppCredential(tx, await lockMppCredential(tx, id), why, cause));
      }
      return stateOfRow(await known(deps, credentialId));
    }),

    expireMppCredential: refusing(
      async (credentialId: string): Promise<CredentialState> => stateOfRow(await ended(deps, credentialId)),
    ),
  };
};

export type MppCredentialActivities = ReturnType<typeof mppCredentialActivities>;

const stateOfRow = (row: MppCredentialRow): CredentialState => mppCredentialState(row, new Date());

async function ended(deps: Deps, credentialId: string): Promise<MppCredentialRow> {
  const cause = await causeOf(deps, await known(deps, credentialId), 'expire', { kind: 'deadline' });
  return deps.database.write(async (tx) => expire(tx, await lockMppCredential(tx, credentialId), cause, new Date()));
}

async function known({ database }: Pick<Deps, 'database'>, credentialId: string): Promise<MppCredentialRow> {
  const row = await findMppCredential(database.read(), credentialId);
  if (row === null) throw notFound('MPP credential', credentialId);
  return row;
}

async function causeOf(
  { clock }: Deps,
  { id, requestId, runId, actor: caller }: MppCredentialRow,
  step: string,
  actor: Actor = caller,
): Promise<Cause> {
  return {
    causeId: `mpp-credential:${id}:${step}`,
    requestId,
    runId: runId ?? undefined,
    actor,
    at: await clock.now(),
  };
}
