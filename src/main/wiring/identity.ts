/** Keys, agent tokens and passkeys, put together. @module */
import {
  agentTokenHandlers,
  agentTokensArea,
  keyHandlers,
  keysArea,
  type OpenCredentials,
  passkeyHandlers,
  passkeysArea,
} from '../../domains/identity/index.ts';
import { agentNames, lockAgent } from '../../domains/parties/index.ts';
import { findIntent, voidAttestationsOf } from '../../domains/spending/intents/index.ts';
import { mayReach } from '../../http/caller.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function identityAreas(infrastructure: Infrastructure, { forget }: OpenCredentials): Mounted[] {
  const { database, config, relyingParty, intentChallenge } = infrastructure;
  const deps = { database, mode: config.BURSAR_MODE, forgetCredentials: forget };
  return [
    mounted(keysArea, keyHandlers(deps)),
    mounted(agentTokensArea, agentTokenHandlers({ ...deps, lockAgent, agentNames })),
    mounted(
      passkeysArea,
      passkeyHandlers({
        database,
        relyingParty,
        onRevoked: voidAttestationsOf,
        intentChallenge: async (intentId, call) => {
          const intent = mayReach(call, 'intent', intentId, await findIntent(database.read(), intentId));
          const askedBy = { kind: 'credential', address: call.cause.sourceAddress } as const;
          return intentChallenge(intent, { challengeId: call.newId('challenge'), askedBy, at: call.cause.at });
        },
      }),
    ),
  ];
}
