/** The adapters to outside services that this deployment is configured with. @module */
import { type BankFolderMark, createFileBankRail, fileBankLimits } from '../adapters/bank-rail/files.ts';
import { createSandboxBankRail, sandboxBankLimits } from '../adapters/bank-rail/sandbox.ts';
import { noCardProcessor } from '../adapters/card-processor/no-processor.ts';
import { createSandboxCardProcessor } from '../adapters/card-processor/sandbox.ts';
import { createBursarCheckout } from '../adapters/merchant-checkout/bursar-checkout.ts';
import { createMerchantKeys } from '../adapters/merchant-keys/jwks.ts';
import { noNetwork } from '../adapters/network-simulator/no-network.ts';
import { createSandboxNetwork } from '../adapters/network-simulator/sandbox.ts';
import { createPaidResource } from '../adapters/paid-resource/http-402.ts';
import { noPayeeCheck } from '../adapters/payee-check/no-provider.ts';
import { createSandboxPayeeCheck } from '../adapters/payee-check/sandbox.ts';
import { isoBankFiles } from '../adapters/sepa-files/bank-files.ts';
import type { CardProcessor } from '../domains/cards/cards/card.port.ts';
import type { MerchantCheckout } from '../domains/payments/checkout/checkout.port.ts';
import { challengesOfMcpAnswer } from '../domains/payments/mpp/mcp-challenge.wire.ts';
import type { MerchantKeys } from '../domains/payments/mpp-credentials/merchant-keys.port.ts';
import type { PaidResource } from '../domains/payments/mpp-payments/paid-resource.port.ts';
import type { NetworkSimulator } from '../domains/payments/simulations/simulation.port.ts';
import type { PayeeCheck } from '../domains/treasury/beneficiaries/payee-check.port.ts';
import type { BankRail } from '../domains/treasury/sepa/bank-rail.port.ts';
import type { RailLimits } from '../domains/treasury/sepa/scheme.rules.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Config } from './config.ts';

export type Ports = {
  readonly bankRail: BankRail;
  readonly payeeCheck: PayeeCheck;
  readonly cardProcessor: CardProcessor;
  readonly networkSimulator: NetworkSimulator;
  readonly merchantCheckout: MerchantCheckout;
  readonly merchantKeys: MerchantKeys;
  readonly paidResource: PaidResource;
};

/** Without simulators, which only live goes without, there is nobody who issues cards; bank transfers need the folder. */
export function portsOf(config: Config, outbound: Outbound, mark: BankFolderMark): Ports {
  const { BURSAR_SANDBOX_URL: sandboxUrl, BURSAR_MODE: mode, BURSAR_BANK_FOLDER: folder } = config;
  const overHttp = {
    merchantCheckout: createBursarCheckout({ outbound }),
    merchantKeys: createMerchantKeys({ outbound }),
    paidResource: createPaidResource({
      outbound,
      demandsPayment: (answer) => challengesOfMcpAnswer(answer).length > 0,
    }),
  };
  const filesRail = folder === undefined ? undefined : createFileBankRail({ folder, mark, files: isoBankFiles });
  if (sandboxUrl === undefined) {
    if (filesRail === undefined) throw new Error('no bank is configured: set BURSAR_BANK_FOLDER');
    const nobody = { payeeCheck: noPayeeCheck, cardProcessor: noCardProcessor, networkSimulator: noNetwork };
    return { ...overHttp, ...nobody, bankRail: filesRail };
  }
  const sandbox = { sandboxUrl, outbound };
  return {
    ...overHttp,
    bankRail: filesRail ?? createSandboxBankRail(sandbox),
    payeeCheck: mode === 'sandbox' ? createSandboxPayeeCheck(sandbox) : noPayeeCheck,
    cardProcessor: createSandboxCardProcessor(sandbox),
    networkSimulator: createSandboxNetwork(sandbox),
  };
}

/** What the bank carries; the API asks it before it takes an order, and never dials. */
export const railLimitsOf = ({ BURSAR_BANK_FOLDER: folder }: Pick<Config, 'BURSAR_BANK_FOLDER'>): RailLimits =>
  folder === undefined ? sandboxBankLimits : fileBankLimits;
