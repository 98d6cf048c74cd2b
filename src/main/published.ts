/** Every area that is served, in the order in which the documentation shows them. @module */
import { cardsArea } from '../domains/cards/index.ts';
import { webhooksArea } from '../domains/delivery/index.ts';
import { agentTokensArea, keysArea, passkeysArea } from '../domains/identity/index.ts';
import { agentsArea, customersArea, limitsArea } from '../domains/parties/index.ts';
import { checkoutArea, networkArea, transactionsArea } from '../domains/payments/index.ts';
import { approvalsArea } from '../domains/spending/approvals/index.ts';
import { evidenceArea } from '../domains/spending/evidence/index.ts';
import { intentsArea } from '../domains/spending/intents/index.ts';
import { policiesArea } from '../domains/spending/policies/index.ts';
import { fundArea, ledgerArea, walletsArea } from '../domains/treasury/index.ts';
import { healthArea } from '../http/health.ts';
import type { Area } from '../http/route.ts';
import { sandboxClockArea } from '../http/sandbox-clock.ts';

export const publishedAreas: readonly Area[] = [
  healthArea,
  customersArea,
  limitsArea,
  keysArea,
  agentsArea,
  agentTokensArea,
  passkeysArea,
  policiesArea,
  intentsArea,
  approvalsArea,
  evidenceArea,
  cardsArea,
  checkoutArea,
  transactionsArea,
  walletsArea,
  fundArea,
  ledgerArea,
  webhooksArea,
  networkArea,
  sandboxClockArea,
];
