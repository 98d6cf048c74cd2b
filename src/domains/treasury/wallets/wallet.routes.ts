/** Answers the wallet operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { replyOf } from '../../../http/atomic.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import { isoOf, isoOrNull } from '../../../kernel/instant.ts';
import { add, eurosFromCents } from '../../../kernel/money.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Parties } from '../../parties/index.ts';
import type { FundWallet } from '../funding/funding.service.ts';
import { fundedWalletWire } from '../funding/funding.wire.ts';
import type { WalletRecord, walletsArea } from './wallet.contract.ts';
import { findWallet, type ListedWallet, listWallets, type WalletView } from './wallet.queries.ts';
import { changeWallet, closeWallet, type NewWallet } from './wallet.service.ts';

export type WalletDeps = {
  readonly database: Database;
  readonly fundWallet: FundWallet;
  /** With the owner's customer, where there is none yet. */
  readonly openWallet: (order: NewWallet, parties: Parties, cause: Cause) => Promise<void>;
};

export const walletHandlers = (deps: WalletDeps): Handlers<typeof walletsArea> => {
  const { database } = deps;
  const changed = async (ownerId: string, walletId: string): Promise<WalletRecord> => {
    const view = await findWallet(database.read(), ownerId, walletId);
    if (view === null) throw notFound('wallet', walletId);
    return recordOf(view);
  };

  return {
    listWallets: async ({ query, own }) => {
      const { status, parentWalletId } = query;
      const filter = { ownerId: own.ownerId, drawnBy: own.agentId, status, parentWalletId };
      return mapPage(await listWallets(database.read(), filter, pageOfQuery(query)), recordOf);
    },
    createWallet: async ({ body, own: { ownerId } }, call) => {
      const id = call.newId('wallet'); // First, so that a repeat names the same wallet whatever else was made before.
      const parties = { ownerId, customerId: call.newId('customer'), walletId: call.newId('wallet') };
      const { currency: _euros, ...order } = body;
      await deps.openWallet({ ...order, id, ownerId }, parties, call.cause);
      return changed(ownerId, id);
    },
    getWallet: async ({ records }) => recordOf(records.wallet),
    updateWallet: async ({ params: { id }, body, own: { ownerId } }, call) => {
      const name = { ownerId, walletId: id };
      await inTransaction(deps, call, (tx, cause) => changeWallet(tx, cause, name, body));
      return changed(ownerId, id);
    },
    closeWallet: async ({ params: { id }, own: { ownerId } }, call) => {
      await inTransaction(deps, call, (tx, cause) => closeWallet(tx, cause, { ownerId, walletId: id }));
      return changed(ownerId, id);
    },
    getWalletBalance: async ({ records }) => balanceOf(records.wallet),
    fundWalletById: async ({ params: { id: walletId }, body, own: { ownerId } }, call) => {
      const ids = { id: call.newId('funding'), journalId: call.newId('journal') };
      return replyOf(await deps.fundWallet(call, { ...ids, ownerId, walletId, ...body }), fundedWalletWire);
    },
  };
};

const recordOf = (view: ListedWallet): WalletRecord => ({
  id: view.id,
  ownerId: view.ownerId,
  name: view.name,
  purpose: view.purpose,
  currency: 'EUR',
  balanceEuros: eurosFromCents(view.availableCents),
  iban: view.iban,
  bic: view.bic,
  parentWalletId: view.parentWalletId,
  isDefault: view.isDefault,
  status: view.status,
  metadata: view.metadata,
  createdAt: isoOf(view.createdAt),
  updatedAt: isoOf(view.updatedAt),
  closedAt: isoOrNull(view.closedAt),
});

const balanceOf = ({ id, availableCents, heldCents }: WalletView) => ({
  walletId: id,
  availableEuros: eurosFromCents(availableCents),
  pendingEuros: eurosFromCents(heldCents),
  totalEuros: eurosFromCents(add(availableCents, heldCents)),
});
