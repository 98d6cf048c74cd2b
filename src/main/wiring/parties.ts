/** Customers and agents, put together with everything an agent has. @module */
import { cardWorkflowId, issueCard, prepareCard } from '../../domains/cards/index.ts';
import type { OpenCredentials } from '../../domains/identity/index.ts';
import {
  agentHandlers,
  agentsArea,
  customerHandlers,
  customersArea,
  limitHandlers,
  limitsArea,
} from '../../domains/parties/index.ts';
import { copyPolicyFor, replaceRules } from '../../domains/spending/policies/index.ts';
import { walletTotalCents } from '../../domains/treasury/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { createCloseAgent } from '../../usecases/parties/close-agent.ts';
import { createCreateAgent } from '../../usecases/parties/create-agent.ts';
import { createFreezeAgent } from '../../usecases/parties/freeze-agent.ts';
import { createFundAgent } from '../../usecases/parties/fund-agent.ts';
import { createAgentReads } from '../../usecases/parties/read-agent.ts';
import { createUnfreezeAgent } from '../../usecases/parties/unfreeze-agent.ts';
import { createUpdateAgent } from '../../usecases/parties/update-agent.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { cascades } from './cascades.ts';
import { ensureCustomerOf } from './customers.ts';

export function partiesAreas(infrastructure: Infrastructure, credentials: OpenCredentials): Mounted[] {
  const { database, gateway, config } = infrastructure;
  const mode = config.BURSAR_MODE;
  const ensureCustomer = ensureCustomerOf(infrastructure);
  const reads = createAgentReads({ database, mode });
  const brakes = { ...cascades, database, forgetCredentials: credentials.forget };
  const createAgent = createCreateAgent({
    database,
    ensureCustomer,
    copyPolicyFor,
    prepareCard: (tx, cause, card) => prepareCard(tx, cause, { ...card, name: 'default' }),
    issueFirstCard: ({ cardId, updateId }) => gateway.ask(cardWorkflowId(cardId), issueCard, {}, updateId),
    readAgent: reads.readAgent,
  });
  return [
    mounted(customersArea, customerHandlers({ database, mode, ensureCustomer, walletTotalCents })),
    mounted(limitsArea, limitHandlers({ database })),
    mounted(
      agentsArea,
      agentHandlers({
        ...reads,
        createAgent,
        freezeAgent: createFreezeAgent(brakes),
        unfreezeAgent: createUnfreezeAgent(brakes),
        closeAgent: createCloseAgent(brakes),
        updateAgent: createUpdateAgent({ ...brakes, replaceRules }),
        fundAgent: createFundAgent(database),
      }),
    ),
  ];
}
