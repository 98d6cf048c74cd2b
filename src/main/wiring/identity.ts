/** Keys and agent tokens, put together. @module */
import {
  agentTokenHandlers,
  agentTokensArea,
  keyHandlers,
  keysArea,
  type OpenCredentials,
} from '../../domains/identity/index.ts';
import { agentNames, lockAgent } from '../../domains/parties/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function identityAreas({ database, config }: Infrastructure, { forget }: OpenCredentials): Mounted[] {
  const deps = { database, mode: config.BURSAR_MODE, forgetCredentials: forget };
  return [
    mounted(keysArea, keyHandlers(deps)),
    mounted(agentTokensArea, agentTokenHandlers({ ...deps, lockAgent, agentNames })),
  ];
}
