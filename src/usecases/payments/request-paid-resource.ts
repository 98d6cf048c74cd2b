/**
 * Requests a resource that a merchant sells by HTTP 402, or calls the tool of its MCP server, and finds the challenge that
 * Bursar can answer. A merchant that offers nothing of the kind is refused with a sentence that names what it offers.
 * Spends nothing.
 * @module
 */
import { parseAuthenticate } from '../../domains/payments/mpp/authenticate-header.rules.ts';
import { chooseChallenge } from '../../domains/payments/mpp/challenge.wire.ts';
import { digestFits } from '../../domains/payments/mpp/credential.wire.ts';
import { challengesOfMcpAnswer } from '../../domains/payments/mpp/mcp-challenge.wire.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { noChallengeInWords, unpayableInWords } from '../../domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import { challengeContext, type MppPaymentChange } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { openTool } from '../../domains/payments/mpp-payments/mpp-payment.tool.ts';
import type { FirstAnswer, PaidResource } from '../../domains/payments/mpp-payments/paid-resource.port.ts';
import type { Vault } from '../../vault/vault.ts';
import type { OpenedChallenge, Refusal } from './mpp-payment-step.ts';
import type { SignerOfAgent } from './request-signer.ts';

export type PaidResourceDeps = {
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  readonly paidResource: PaidResource;
  /** Signs what the merchant receives, where the agent's owner wants it. */
  readonly signerOf: SignerOfAgent;
};

type Found =
  | {
      readonly opened: Extract<OpenedChallenge, { readonly ok: true }>;
      /** The row keeps the challenge sealed. */
      readonly change: MppPaymentChange;
    }
  | { readonly refused: Refusal };

export const requestPaidResource =
  (deps: PaidResourceDeps) =>
  async (row: Readonly<MppPaymentRow>): Promise<Found> => {
    const [signer, tool] = await Promise.all([deps.signerOf(row.agentId), openTool(deps.vault, row)]);
    return challengeIn(deps, row.id, await deps.paidResource.request(row.url, signer, tool));
  };

const refuse = (outcomeCode: string, outcomeReason: string): Found => ({ refused: { outcomeCode, outcomeReason } });

async function challengeIn({ vault }: PaidResourceDeps, id: string, answer: FirstAnswer): Promise<Found> {
  if (answer.outcome === 'unpayable') return refuse(answer.reason, unpayableInWords(answer.reason, answer.status));
  const challenges =
    answer.mcpAnswer === undefined ? parseAuthenticate(answer.authenticate) : challengesOfMcpAnswer(answer.mcpAnswer);
  const choice = chooseChallenge(challenges, Date.now());
  if (!choice.ok) {
    const { code, why } = noChallengeInWords({ ...choice, offersX402: answer.offersX402 });
    return refuse(code, why);
  }
  const { challenge, charge } = choice;
  if (challenge.digest !== undefined && !digestFits(challenge.digest, new Uint8Array())) {
    return refuse('other_digest', 'the challenge is for a request with a body, and none was sent; nothing was spent');
  }
  const sealedChallenge = await vault.seal(JSON.stringify(challenge), challengeContext(id));
  const { amountCents } = charge;
  return {
    opened: { ok: true, challenge, charge },
    change: { payeeUrl: answer.url, sealedChallenge, amountCents, currency: 'EUR' },
  };
}
