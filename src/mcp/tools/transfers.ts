/** Tools for moving money to wallets and to payees with a bank account. An owner approves and cancels; no tool does. @module */
import type { Next } from '../answer.ts';
import type { Answer, Tool } from '../tool.ts';
import { afterList } from './steps.ts';

function afterTransfer({ id: transferId, status }: Answer['body']): Next {
  const read = { tool: 'transfers_get', arguments: { transferId } };
  if (status === 'pending_approval')
    return {
      do: 'A person has to approve this transfer. Tell them so, and read it later; do not send it again.',
      ...read,
    };
  if (status === 'pending' || status === 'submitted')
    return { do: 'The money is held and on its way to the bank. Read it later; do not send it again.', ...read };
  if (status === 'completed') return { do: 'The money has left. Nothing is left to do.' };
  return { do: 'No money has left for good. Tell the person before you try anything else.' };
}

export const transferTools: readonly Tool[] = [
  {
    name: 'beneficiaries_list',
    title: 'List payees with a bank account',
    description:
      'Lists the payees with a bank account, newest first; an agent sees those that it may pay. Account numbers are masked. Only the owner adds or changes a payee.',
    reason: 'A transfer names its payee by id.',
    operation: 'listBeneficiaries',
    next: afterList('beneficiaries_list', 'Pay one with transfers_create.'),
  },
  {
    name: 'transfers_create',
    title: 'Transfer money to a payee or a wallet',
    description:
      'Transfers euros to a payee of beneficiaries_list, or to another wallet of the owner. It moves money, once: after a time-out repeat it with the same purchaseRef, which finds the first transfer. The policy decides; a transfer to a payee may wait for a person. Use it for invoices and bank details, not for shops.',
    reason: 'Payees without a card terminal are paid by bank transfer.',
    operation: 'createTransfer',
    without: ['to'],
    purchase: 'key',
    isDestructive: true,
    isOpenWorld: true,
    next: afterTransfer,
  },
  {
    name: 'transfers_get',
    title: 'How did a transfer go?',
    description: 'Reads one transfer: its state, the payee, and why it failed or was denied.',
    reason: 'A bank answers later, and a person too.',
    operation: 'getTransfer',
    names: { id: 'transferId' },
    next: afterTransfer,
  },
];
