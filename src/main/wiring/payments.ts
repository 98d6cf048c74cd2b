/** The card network, transactions and checkouts, put together; and what only ages in bulk. @module */
import {
  checkoutArea,
  checkoutHandlers,
  createMessageCeiling,
  messagesPerSecond,
  networkArea,
  networkHandlers,
  transactionHandlers,
  transactionsArea,
} from '../../domains/payments/index.ts';
import { createFailureLimit } from '../../http/failure-limit.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { minute } from '../../kernel/instant.ts';
import { checkUrl } from '../../outbound/address-rules.ts';
import { type Loop, startLoop } from '../../relay/loop.ts';
import { cardWasUsed } from '../../usecases/cards/card-was-used.ts';
import { createAuthorizeCard } from '../../usecases/payments/authorize-card.ts';
import { createClearAuthorization } from '../../usecases/payments/clear-authorization.ts';
import { createConfirmCheckout } from '../../usecases/payments/confirm-checkout.ts';
import { createExecuteCheckout } from '../../usecases/payments/execute-checkout.ts';
import { expireHolds } from '../../usecases/payments/expire-holds.ts';
import { createReverseAuthorization } from '../../usecases/payments/reverse-authorization.ts';
import { createSimulateCharge } from '../../usecases/payments/simulate-charge.ts';
import { createRequestApproval } from '../../usecases/spending/request-approval.ts';
import { riskOf } from '../../usecases/spending/spending-facts.ts';
import { urlRulesOf } from '../config.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function paymentsAreas({ database, gateway, config, log, links }: Infrastructure): Mounted[] {
  const { BURSAR_NETWORK_KEY: networkKey } = config;
  // In live the simulated network moves no money, also where simulators are allowed for tests.
  const isSimulated = config.BURSAR_MODE === 'sandbox';
  const networkKeys = networkKey === undefined || !isSimulated ? {} : { sandbox: networkKey };
  const refusalOfUrl = (url: string): string | undefined => {
    const evaluated = checkUrl(url, { ...urlRulesOf(config), requireHttps: true });
    return 'refused' in evaluated ? evaluated.refused : undefined;
  };
  return [
    mounted(
      checkoutArea,
      checkoutHandlers({
        execute: createExecuteCheckout({ database, gateway, refusalOfUrl }),
        confirm: createConfirmCheckout({ database }),
      }),
    ),
    mounted(transactionsArea, transactionHandlers({ database, simulate: createSimulateCharge({ database, gateway }) })),
    mounted(
      networkArea,
      networkHandlers({
        networkKeys,
        countMessage: createMessageCeiling(Math.max(1, Math.floor(messagesPerSecond / config.BURSAR_INSTANCES))),
        countBadSignature: createFailureLimit('bad network signatures'),
        authorize: createAuthorizeCard({
          database,
          log,
          closeUsedCard: cardWasUsed,
          requestApproval: createRequestApproval(links),
          riskOf,
        }),
        clear: createClearAuthorization({ database, closeUsedCard: cardWasUsed, log }),
        reverse: createReverseAuthorization({ database, closeUsedCard: cardWasUsed, log }),
      }),
    ),
  ];
}

/** Holds, confirms and clearings that nothing followed, by business time; the clock's moves are noticed too. */
export const ageingLoop = ({ database, clock, log }: Infrastructure): Loop =>
  startLoop({
    name: 'ageing',
    everyMs: minute,
    log,
    pass: async () => expireHolds({ database, closeUsedCard: cardWasUsed }, await clock.now()),
  });
