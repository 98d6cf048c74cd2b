/** The areas of the domain identity: keys, agent tokens, passkeys, approvals and public discovery. @module */
import { deletePushSubscriptionsOf } from '../../domains/delivery/push-subscriptions/push-subscription.service.ts';
import { agentTokensArea } from '../../domains/identity/agent-tokens/agent-token.contract.ts';
import { AgentTokenRow } from '../../domains/identity/agent-tokens/agent-token.entity.ts';
import { agentTokenHandlers } from '../../domains/identity/agent-tokens/agent-token.routes.ts';
import { approvalsArea } from '../../domains/identity/approvals/approval.contract.ts';
import { approvalPage } from '../../domains/identity/approvals/approval.page.ts';
import { approvalHandlers } from '../../domains/identity/approvals/approval.routes.ts';
import { keysArea } from '../../domains/identity/keys/key.contract.ts';
import { KeyRow } from '../../domains/identity/keys/key.entity.ts';
import { keyHandlers } from '../../domains/identity/keys/key.routes.ts';
import { enrolmentPage } from '../../domains/identity/passkey-invitations/enrolment.page.ts';
import { passkeyInvitationsArea } from '../../domains/identity/passkey-invitations/invitation.contract.ts';
import { invitationHandlers } from '../../domains/identity/passkey-invitations/invitation.routes.ts';
import {
  revokeInvitationsOf,
  revokeUnconfirmedInvitationsOf,
} from '../../domains/identity/passkey-invitations/invitation.service.ts';
import { passkeysArea } from '../../domains/identity/passkeys/passkey.contract.ts';
import { passkeyHandlers } from '../../domains/identity/passkeys/passkey.routes.ts';
import { wellKnownArea } from '../../domains/identity/well-known/well-known.contract.ts';
import { wellKnownHandlers } from '../../domains/identity/well-known/well-known.routes.ts';
import { agentNames, isOpenAgent, lockAgent } from '../../domains/parties/agents/agent.queries.ts';
import { businessNameOf } from '../../domains/parties/customers/customer.queries.ts';
import { voidAttestationsOf } from '../../domains/spending/intents/intent.attestation.service.ts';
import { approveByLink, challengeByLink, denyByLink, readByLink } from '../../usecases/identity/decide-by-link.ts';
import { version } from '../version.ts';
import { type ApiProcess, defineModule, servedArea } from './module.ts';

const credentialDeps = ({ database, config, credentials }: ApiProcess) => ({
  database,
  mode: config.BURSAR_MODE,
  clearCredentialCache: credentials.forget,
});

export const identity = defineModule('identity', [
  servedArea('keys', {
    contract: keysArea,
    position: 130,
    handlers: (api) => keyHandlers(credentialDeps(api)),
    entities: [KeyRow],
    tables: ['api_keys'],
  }),
  servedArea('agent-tokens', {
    contract: agentTokensArea,
    position: 150,
    handlers: (api) => agentTokenHandlers({ ...credentialDeps(api), lockAgent, agentNames }),
    entities: [AgentTokenRow],
    tables: ['agent_tokens'],
  }),
  servedArea('passkeys', {
    contract: passkeysArea,
    position: 160,
    handlers: ({ database, relyingParty, intentChallenge }) =>
      passkeyHandlers({
        database,
        relyingParty,
        onFirstEnrolled: revokeUnconfirmedInvitationsOf,
        onRevoked: async (tx, passkeyId, cause) => {
          await revokeInvitationsOf(tx, passkeyId, cause);
          await voidAttestationsOf(tx, passkeyId, cause);
          await deletePushSubscriptionsOf(tx, passkeyId, cause);
        },
        intentChallenge: async (intent, call) => {
          const askedBy = { kind: 'credential', address: call.cause.sourceAddress } as const;
          return intentChallenge(intent, { challengeId: call.newId('challenge'), askedBy, at: call.cause.at });
        },
      }),
    tables: ['passkeys', 'passkey_challenges'],
  }),
  servedArea('passkey-invitations', {
    contract: passkeyInvitationsArea,
    position: 165,
    handlers: ({ database, relyingParty, config: { publicUrl } }) =>
      invitationHandlers({ database, relyingParty, publicUrl, businessNameOf }),
    pages: { getEnrolment: enrolmentPage },
    tables: ['passkey_invitations'],
  }),
  servedArea('approvals', {
    contract: approvalsArea,
    position: 230,
    handlers: ({ database, relyingParty, approvals }) => {
      const deps = { database, relyingParty, subjects: approvals };
      return approvalHandlers({
        read: readByLink(deps),
        challenge: challengeByLink(deps),
        approve: approveByLink(deps),
        deny: denyByLink(deps),
      });
    },
    pages: { getApproval: approvalPage },
    tables: ['approval_links'],
  }),
  servedArea('well-known', {
    contract: wellKnownArea,
    position: 970,
    handlers: ({ database, config: { publicUrl } }) =>
      // `PaymentToken` joins when payment requests accept it.
      wellKnownHandlers({ database, publicUrl, version, paymentSchemes: ['Payment'], isOpenAgent }),
    tables: ['signing_keys'],
  }),
]);
