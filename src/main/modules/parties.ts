/** Customers, limits and agents, with the parts of an agent that other domains keep. @module */
import {
  cardWorkflowId,
  closeCardsOf,
  freezeCardsOf,
  issueCard,
  prepareCard,
  unfreezeCardsOf,
} from '../../domains/cards/index.ts';
import { agentsArea } from '../../domains/parties/agents/agent.contract.ts';
import { AgentRow } from '../../domains/parties/agents/agent.entity.ts';
import { agentHandlers } from '../../domains/parties/agents/agent.routes.ts';
import { customersArea } from '../../domains/parties/customers/customer.contract.ts';
import { CustomerRow } from '../../domains/parties/customers/customer.entity.ts';
import { customerHandlers } from '../../domains/parties/customers/customer.routes.ts';
import { limitsArea } from '../../domains/parties/limits/limit.contract.ts';
import { limitHandlers } from '../../domains/parties/limits/limit.routes.ts';
import { cancelIntentsOf } from '../../domains/spending/intents/index.ts';
import { copyPolicyFor, removePolicyOf, replaceRules } from '../../domains/spending/policies/index.ts';
import { walletTotalCents } from '../../domains/treasury/index.ts';
import { createCloseAgent } from '../../usecases/parties/close-agent.ts';
import { createCreateAgent } from '../../usecases/parties/create-agent.ts';
import { createFreezeAgent } from '../../usecases/parties/freeze-agent.ts';
import { createFundAgent } from '../../usecases/parties/fund-agent.ts';
import { createAgentReads } from '../../usecases/parties/read-agent.ts';
import { createUnfreezeAgent } from '../../usecases/parties/unfreeze-agent.ts';
import { createUpdateAgent } from '../../usecases/parties/update-agent.ts';
import { ensureCustomerOf } from '../infrastructure.ts';
import { type ApiProcess, defineModule, servedArea } from './module.ts';

const cascades = { freezeCardsOf, unfreezeCardsOf, closeCardsOf, cancelIntentsOf, removePolicyOf };

function agentsOf({ database, gateway, config, credentials }: ApiProcess) {
  const reads = createAgentReads({ database, mode: config.BURSAR_MODE });
  const revoking = { ...cascades, database, forgetCredentials: credentials.forget };
  return agentHandlers({
    ...reads,
    createAgent: createCreateAgent({
      database,
      ensureCustomer: ensureCustomerOf(config),
      copyPolicyFor,
      prepareCard: (tx, cause, card) => prepareCard(tx, cause, { ...card, name: 'default' }),
      issueFirstCard: ({ cardId, updateId }) => gateway.ask(cardWorkflowId(cardId), issueCard, {}, updateId),
      readAgent: reads.readAgent,
    }),
    freezeAgent: createFreezeAgent(revoking),
    unfreezeAgent: createUnfreezeAgent(revoking),
    closeAgent: createCloseAgent(revoking),
    updateAgent: createUpdateAgent({ ...revoking, replaceRules }),
    fundAgent: createFundAgent(database),
  });
}

export const parties = defineModule('parties', [
  servedArea('customers', {
    contract: customersArea,
    position: 110,
    handlers: ({ database, config }) =>
      customerHandlers({
        database,
        mode: config.BURSAR_MODE,
        ensureCustomer: ensureCustomerOf(config),
        walletTotalCents,
      }),
    entities: [CustomerRow],
    tables: ['customers'],
  }),
  servedArea('limits', {
    contract: limitsArea,
    position: 120,
    handlers: ({ database }) => limitHandlers({ database }),
    tables: ['owner_limits'],
  }),
  servedArea('agents', {
    contract: agentsArea,
    position: 140,
    handlers: agentsOf,
    entities: [AgentRow],
    tables: ['agents'],
  }),
]);
