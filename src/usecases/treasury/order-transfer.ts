/** Carries out what `POST /transfers` asks for: at once between wallets, by the workflow to a bank account. @module */
import { bankTransferWorkflowId } from '../../domains/treasury/transfers/bank-transfer.messages.ts';
import type {
  BankOrder,
  TransferCall,
  TransferRequest,
} from '../../domains/treasury/transfers/transfer.request.service.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = {
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  readonly transfer: (request: TransferRequest, cause: Cause) => Promise<void>;
  readonly payBank: (order: BankOrder, cause: Cause) => Promise<void>;
};

export const orderTransfer =
  ({ gateway, transfer, payBank }: Deps) =>
  async (order: TransferCall, cause: Cause): Promise<void> => {
    if ('between' in order) return transfer(order.between, cause);
    await payBank(order.toBank, cause);
    gateway.startSoon(bankTransferWorkflowId(order.id));
  };
