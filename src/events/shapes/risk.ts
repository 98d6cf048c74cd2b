/** The `data` of the risk events, which are about a transaction or an agent. @module */
import { code, codes, euros, id, named } from '../fields.ts';

const riskFields = {
  id: id('transaction'),
  transactionId: id('transaction'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  action: code,
  signals: codes,
};

export const riskAlertData = named('RiskAlertEventData', {
  ...riskFields,
  beyondEuros: euros.meta({ description: 'collected beyond the hold, in euros' }),
  receivableEuros: euros.meta({ description: 'owed because the money was not there, in euros' }),
});

export const riskReviewData = named('RiskReviewEventData', {
  ...riskFields,
  intentId: id('intent').meta({ description: 'the intent that waits for a decision' }),
  amountEuros: euros,
});

export const agentRiskData = named('AgentRiskEventData', {
  id: id('agent'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  action: code,
  signals: codes,
});
