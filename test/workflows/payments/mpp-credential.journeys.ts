/** The ways of an MPP credential: used, declined by the network, expired, and refused for its key. @module */
import { randomUUID } from 'node:crypto';
import { Refused } from '../../../src/client/client.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { day } from '../../../src/kernel/instant.ts';
import { aCredentialRun } from '../../support/credential-run.ts';
import { apiShop } from '../../support/mpp-world.ts';
import { challengeHeader, encryptionJwk, openCredential } from '../../support/payment-challenges.ts';
import { networkOf } from '../../support/payments-world.ts';
import type { Actors, Declared } from '../../support/record/actors.ts';
import { of, reaches } from '../../support/record/purchase.ts';
import type { Journey, Played, Stage, WorkflowJourneys } from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played => ({ workflow: 'mppCredential', journey, workflowId });

const runOf = ({ runOf: find }: Stage, { agentId }: Declared): Promise<string> => find('mppCredential', agentId);
const namesOf = (workflowId: string, { agentId, intentId }: Declared) => ({
  agent: agentId,
  subject: workflowId.replace('mpp-credential/', ''),
  intent: intentId,
});

const mint = ({ client }: Actors, { intentId, cardId }: Declared, challenge: string) =>
  client(mppCredentialsArea).mintMppCredential({ body: { challenge, intentId, cardId } });

/** The merchant charges the token inside of the credential, and the network collects at once. */
async function charge(stage: Stage, actors: Actors, declared: Declared, credential: string, amountCents: number) {
  const { plaintext } = await openCredential(credential);
  const { cardRef = '' } = await actors.cards.getCard({ params: { cardId: declared.cardId } });
  const { send } = networkOf(stage);
  const [id, sentAt] = [`auth_${randomUUID()}`, new Date().toISOString()];
  const message = { cardRef, amountCents, currency: 'EUR', merchant: apiShop };
  const asked = { kind: 'purchase', partialSupported: false, recurring: false, sentAt };
  const token = plaintext.token.paymentToken;
  const { body } = await send<{ decision: string }>('authorizations', { id, token, ...message, ...asked });
  if (body.decision !== 'approved') return;
  await send('clearings', { id: `clr_${id}`, authorizationId: id, ...message, final: true, clearedAt: sentAt });
}

const used: Journey = async (stage, actors) => {
  const declared = await actors.declare(12.5);
  const { credential } = await mint(actors, declared, challengeHeader());
  const id = await runOf(stage, declared);
  await stage.observe('mppCredential: minted', id, namesOf(id, declared));
  await charge(stage, actors, declared, credential, 1_250);
  await reaches(actors, declared, 'completed');
  await stage.observe('mppCredential: used', id, namesOf(id, declared));
  return [ended('used', id)];
};

const declined: Journey = async (stage, actors) => {
  const declared = await actors.declare(20);
  const { credential } = await mint(actors, declared, challengeHeader({ amountCents: 2_000 }));
  await charge(stage, actors, declared, credential, 2_001);
  const id = await runOf(stage, declared);
  await stage.observe('mppCredential: declined', id, namesOf(id, declared));
  return [ended('declined', id)];
};

const expired: Journey = async (stage, actors) => {
  const began = Date.now();
  const declared = await actors.declare(15);
  // An expired challenge is refused, so a busy machine gets longer to mint: many times what the declaration took.
  const expiresAt = Date.now() + 4_000 + 20 * (Date.now() - began);
  const expires = new Date(expiresAt).toISOString();
  await mint(actors, declared, challengeHeader({ amountCents: 1_500, expires }));
  const id = await runOf(stage, declared);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, expiresAt - Date.now())));
  await stage.observe('mppCredential: expired', id, namesOf(id, declared));
  await actors.intents.cancelIntent(of(declared));
  return [ended('expired', id)];
};

const refused: Journey = async (stage, actors) => {
  const declared = await actors.declare(10);
  const keySource = { encryptionJwk: { ...encryptionJwk, use: 'sig' } };
  try {
    await mint(actors, declared, challengeHeader({ amountCents: 1_000, keySource }));
    throw new Error('a credential was minted for a key that may not be used');
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
  }
  const id = await runOf(stage, declared);
  await stage.observe('mppCredential: refused', id, namesOf(id, declared));
  await actors.intents.cancelIntent(of(declared));
  return [ended('refused', id)];
};

export const journeys: WorkflowJourneys = {
  workflows: {
    mppCredential: {
      queue: 'main',
      id: 'mpp-credential/{subject}',
      summary:
        '{euros} EUR. MPP credential {subject} of agent {agent}: minted for a merchant, and used once or expired',
      hasAgent: true,
      histories: ['used', 'declined', 'expired', 'refused'],
      stages: {
        minted: {
          stage: 'minted',
          status: 'RUNNING',
          details: [
            '12.50 EUR for agent {agent}, intent {intent}. Waiting for the merchant to use the credential, until {time}.',
          ],
        },
        used: {
          stage: 'consumed',
          status: 'COMPLETED',
          details: ['12.50 EUR for agent {agent}, intent {intent}. Done: consumed.'],
        },
        declined: {
          stage: 'declined',
          status: 'COMPLETED',
          details: ['20.00 EUR for agent {agent}, intent {intent}. Done: declined (over_ceiling).'],
        },
        expired: {
          stage: 'expired',
          status: 'COMPLETED',
          details: ['15.00 EUR for agent {agent}, intent {intent}. Done: expired.'],
        },
        refused: {
          stage: 'refused',
          status: 'COMPLETED',
          details: ['10.00 EUR for agent {agent}, intent {intent}. Done: refused (challenge_key).'],
        },
      },
    },
  },
  journeys: [used, declined, expired, refused],
  waiting: (seen) => ({
    readMppCredential: async (id) => aCredentialRun(seen(id), { expiresInMs: day }),
  }),
};
