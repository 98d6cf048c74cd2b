/**
 * Mints an MPP credential for a caller of the API. One transaction evaluates the challenge and writes the row with its
 * workflow run, the workflow mints, and the answer is read from the row, where the credential is stored sealed.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { type HeaderChallenge, parseAuthenticate } from '../../domains/payments/mpp/authenticate-header.rules.ts';
import { type ChallengeChoice, chooseChallenge } from '../../domains/payments/mpp/challenge.wire.ts';
import { challengesOfMcpAnswer } from '../../domains/payments/mpp/mcp-challenge.wire.ts';
import { refusalErrorCode } from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import type { NewMppCredentialWire } from '../../domains/payments/mpp-credentials/mpp-credential.contract.ts';
import type { MppCredentialRow } from '../../domains/payments/mpp-credentials/mpp-credential.entity.ts';
import {
  mintMppCredential,
  mppCredentialWorkflowId,
} from '../../domains/payments/mpp-credentials/mpp-credential.messages.ts';
import { findMppCredential } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { credentialStatusAsOf } from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { mintedWire } from '../../domains/payments/mpp-credentials/mpp-credential.wire.ts';
import type { Call } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError, notFound, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Vault } from '../../vault/vault.ts';
import { evaluateChallenge } from './evaluate-challenge.ts';
import type { EvaluateCharge } from './evaluate-charge.ts';
import { credentialSealContext } from './mint-credential.ts';
import { reserveCredential } from './reserve-credential.ts';

export type RequestCredentialDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'ask'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly evaluate: EvaluateCharge;
};

export type CredentialRequest = {
  /** The value of the header `WWW-Authenticate`. */
  readonly challenge: string;
  readonly intentId: ReachedId<'intent'>;
  readonly cardId: ReachedId<'card'>;
};

export const requestCredential = (deps: RequestCredentialDeps) => {
  const reserve = reserveCredential({ evaluateChallenge: evaluateChallenge(deps) });
  const { database, gateway } = deps;
  return async (
    { challenge: text, intentId, cardId }: CredentialRequest,
    call: Call,
  ): Promise<NewMppCredentialWire> => {
    const id = call.newId('mppCredential');
    const known = call.idempotencyKey === undefined ? null : await findMppCredential(database.read(), id);
    if (known === null) {
      const { challenge, charge } = readChallengeText(text);
      const order = { credentialId: id, intentId, cardId, paymentId: null, challenge, charge, origin: null };
      const reserved = await database.write((tx) => reserve(tx, order, call.cause));
      if (!reserved.ok)
        throw new DomainError(refusalErrorCode(reserved.code), reserved.reason, {
          refusedBy: { rule: reserved.code },
        });
    }
    if (known === null || known.status === 'requested') {
      // Another update id for each request: a repeat asks anew, and the row makes it harmless.
      await gateway.ask(mppCredentialWorkflowId(id), mintMppCredential, {}, `${id}/${call.requestId}`);
    }
    return mintedOrRefused(deps, id);
  };
};

/** The first challenge that Bursar can answer. The caller may leave the word `Payment` out. */
export function readChallengeText(text: string): Extract<ChallengeChoice, { ok: true }> {
  const choice = chooseChallenge(challengesIn(text), Date.now());
  if (choice.ok) return choice;
  const why = choice.reasons.length > 0 ? choice.reasons.join('; ') : 'there is no challenge of the scheme Payment';
  throw new DomainError('invalid_state', `the challenge cannot be answered: ${why}`);
}

/** A header's value, or the JSON of what an MCP server answered. */
function challengesIn(text: string): HeaderChallenge[] {
  if (text.trimStart().startsWith('{')) return challengesInJson(text);
  const startsWithParameter = /^\s*[a-z]+\s*=/i.test(text);
  return parseAuthenticate([startsWithParameter ? `Payment ${text}` : text]);
}

function challengesInJson(text: string): HeaderChallenge[] {
  const whole = objectIn(text);
  // A client shows its user the error or the result, without the message around it.
  const parts = [whole, { error: whole }, { result: whole }];
  return parts.map(challengesOfMcpAnswer).find((found) => found.length > 0) ?? [];
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DomainError('invalid_state', 'the challenge begins like JSON and is none', { cause });
  }
}

async function mintedOrRefused(
  { database, vault }: RequestCredentialDeps,
  id: Id<'mppCredential'>,
): Promise<NewMppCredentialWire> {
  const row = await findMppCredential(database.read(), id);
  if (row === null) throw notFound('MPP credential', id);
  const status = credentialStatusAsOf(row, new Date());
  if (status === 'minted') return opened(vault, row);
  if (status === 'requested') throw unavailable(`credential ${id} is not minted yet`);
  if (status === 'refused') {
    throw new DomainError(refusalErrorCode(row.outcomeCode ?? null), row.outcomeReason ?? 'nothing was minted');
  }
  throw new DomainError('gone', `credential ${id} is ${status}; mint another one for a fresh challenge`);
}

async function opened(vault: Pick<Vault, 'open'>, row: MppCredentialRow): Promise<NewMppCredentialWire> {
  if (row.sealedCredential == null) throw new DomainError('gone', `credential ${row.id} is not shown any more`);
  return mintedWire(row, await vault.open(row.sealedCredential, credentialSealContext(row.id)));
}
