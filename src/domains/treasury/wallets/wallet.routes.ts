/** Answers the wallet operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { agentOf, type Call, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { add, eurosFromCents } from '../../../kernel/money.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { EnsureCustomer } from '../../parties/index.ts';
import { fundFromOutside, fundFromWallet } from '../funding/funding.service.ts';
import type { WalletRecord, walletsArea } from './wallet.contract.ts';
import { findWallet, listWallets, type WalletView, walletDrawnBy } from './wallet.queries.ts';
import { changeWallet, closeWallet, createWallet, type IbanIssue } from './wallet.service.ts';

export type WalletDeps = IbanIssue & { readonly database: Database; readonly ensureCustomer: EnsureCustomer };

export const walletHandlers = (deps: WalletDeps): Handlers<typeof walletsArea> => {
  const { database, ensureCustomer } = deps;
  const owned = async (call: Call, walletId: Id<'wallet'>): Promise<WalletView> => {
    const view = await findWallet(database.read(), ownerOf(call), walletId);
    if (view === null) throw notFound('wallet', walletId);
    await mayRead(database, call, walletId);
    return view;
  };

  return {
    listWallets: async ({ query }, call) => {
      const { status, parentWalletId } = query;
      const filter = { ownerId: ownerOf(call), drawnBy: agentOf(call), status, parentWalletId };
      return mapPage(await listWallets(database.read(), filter, pageOfQuery(query)), recordOf);
    },
    createWallet: async ({ body }, call) => {
      const ownerId = ownerOf(call);
      const id = call.newId('wallet'); // First, so that a repeat names the same wallet whatever else was made before.
      const parties = { ownerId, customerId: call.newId('customer'), walletId: call.newId('wallet') };
      await database.write(async (tx) => {
        if ((await findWallet(tx, ownerId, id)) !== null) return;
        await ensureCustomer(tx, call.cause, parties);
        const { currency: _euros, ...order } = body;
        await createWallet(tx, call.cause, deps, { ...order, id, ownerId });
      });
      return recordOf(await owned(call, id));
    },
    getWallet: async ({ params: { id } }, call) => recordOf(await owned(call, id)),
    updateWallet: async ({ params: { id }, body }, call) => {
      const name = { ownerId: ownerOf(call), walletId: id };
      await database.write((tx) => changeWallet(tx, call.cause, name, body));
      return recordOf(await owned(call, id));
    },
    closeWallet: async ({ params: { id } }, call) => {
      await database.write((tx) => closeWallet(tx, call.cause, { ownerId: ownerOf(call), walletId: id }));
      return recordOf(await owned(call, id));
    },
    getWalletBalance: async ({ params: { id } }, call) => balanceOf(await owned(call, id)),
    fundWalletById: async ({ params: { id: walletId }, body }, call) => {
      const ids = { id: call.newId('funding'), journalId: call.newId('journal') };
      await owned(call, walletId);
      const order = { ...ids, ownerId: ownerOf(call), walletId, amountCents: body.amountCents };
      const { fromWalletId, simulate } = body;
      const funding = await database.write((tx) =>
        fromWalletId === undefined
          ? fundFromOutside(tx, call.cause, deps.mode, { ...order, simulate })
          : fundFromWallet(tx, call.cause, { ...order, fromWalletId }),
      );
      return {
        walletId,
        amountEuros: eurosFromCents(funding.amountCents),
        balanceEuros: eurosFromCents(funding.balanceCents),
        status: funding.status,
        simulated: funding.isSimulated,
      };
    },
  };
};

/** An agent reads the wallet that it draws on, and no other of its owner's. */
async function mayRead(database: Database, call: Call, walletId: string): Promise<void> {
  const agentId = agentOf(call);
  if (agentId === undefined || (await walletDrawnBy(database.read(), agentId)) === walletId) return;
  throw new DomainError('agent_isolation', `agent ${agentId} does not draw on wallet ${walletId}`);
}

const recordOf = (view: WalletView): WalletRecord => ({
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
  createdAt: view.createdAt.toISOString(),
  updatedAt: view.updatedAt.toISOString(),
  closedAt: view.closedAt?.toISOString() ?? null,
});

const balanceOf = ({ id, availableCents, heldCents }: WalletView) => ({
  walletId: id,
  availableEuros: eurosFromCents(availableCents),
  pendingEuros: eurosFromCents(heldCents),
  totalEuros: eurosFromCents(add(availableCents, heldCents)),
});
