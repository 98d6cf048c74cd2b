/**
 * The areas of the domain parties: customers, limits and agents, with the parts of an agent that other domains store.
 * @module
 */

import { agentsArea } from '../../domains/parties/agents/agent.contract.ts';
import { AgentRow } from '../../domains/parties/agents/agent.entity.ts';
import { agentHandlers } from '../../domains/parties/agents/agent.routes.ts';
import { customersArea } from '../../domains/parties/customers/customer.contract.ts';
import { CustomerRow } from '../../domains/parties/customers/customer.entity.ts';
import { customerHandlers } from '../../domains/parties/customers/customer.routes.ts';
import { findCustomer } from '../../domains/parties/customers/customer.service.ts';
import { limitsArea } from '../../domains/parties/limits/limit.contract.ts';
import { limitHandlers } from '../../domains/parties/limits/limit.routes.ts';
import { walletTotalCents } from '../../domains/treasury/wallets/wallet.queries.ts';
import { closeAgent } from '../../usecases/parties/close-agent.ts';
import { createAgent } from '../../usecases/parties/create-agent.ts';
import { createCustomer } from '../../usecases/parties/create-customer.ts';
import { ensureCustomer } from '../../usecases/parties/ensure-customer.ts';
import { freezeAgent } from '../../usecases/parties/freeze-agent.ts';
import { fundAgent } from '../../usecases/parties/fund-agent.ts';
import { getAgent, listAgents, readAgent, readAgentWallet } from '../../usecases/parties/read-agent.ts';
import { readOwnCustomer } from '../../usecases/parties/read-own-customer.ts';
import { rotateAgentKey } from '../../usecases/parties/rotate-agent-key.ts';
import { unfreezeAgent } from '../../usecases/parties/unfreeze-agent.ts';
import { updateAgent } from '../../usecases/parties/update-agent.ts';
import { ibanIssueOf } from '../infrastructure.ts';
import { type ApiProcess, defineModule, servedArea } from './module.ts';

function agentsOf({ database, gateway, config, credentials, vault }: ApiProcess) {
  const revoking = { database, clearCredentialCache: credentials.forget };
  return agentHandlers({
    readAgent: readAgent({ database }),
    getAgent: getAgent({ database }),
    listAgents: listAgents({ database }),
    readAgentWallet: readAgentWallet({ database, mode: config.BURSAR_MODE }),
    createAgent: createAgent({
      database,
      gateway,
      ensureCustomer: ensureCustomer(ibanIssueOf(config)),
      readAgent: readAgent({ database }),
    }),
    freezeAgent: freezeAgent({ database }),
    unfreezeAgent: unfreezeAgent({ database }),
    closeAgent: closeAgent(revoking),
    updateAgent: updateAgent({ ...revoking, vault }),
    rotateAgentKey: rotateAgentKey({ database, vault }),
    fundAgent: fundAgent({ database }),
  });
}

export const parties = defineModule('parties', [
  servedArea('customers', {
    contract: customersArea,
    position: 110,
    lookups: ({ database }) => ({ customer: (id) => findCustomer(database.read(), id) }),
    handlers: ({ database, config }) =>
      customerHandlers({
        database,
        mode: config.BURSAR_MODE,
        create: createCustomer({ database, ensureCustomer: ensureCustomer(ibanIssueOf(config)) }),
        readOwn: readOwnCustomer({ database, ensureCustomer: ensureCustomer(ibanIssueOf(config)) }),
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
