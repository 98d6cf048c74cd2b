/** The area of the domain merchants: the registry. @module */
import { createInviteCodes } from '../../domains/merchants/merchants/invite-codes.ts';
import { merchantsArea } from '../../domains/merchants/merchants/merchant.contract.ts';
import { MerchantRow } from '../../domains/merchants/merchants/merchant.entity.ts';
import { findMerchant } from '../../domains/merchants/merchants/merchant.queries.ts';
import { merchantHandlers } from '../../domains/merchants/merchants/merchant.routes.ts';
import { MerchantKeyRow } from '../../domains/merchants/merchants/merchant-key.entity.ts';
import { readEncryptionKey } from '../../domains/payments/mpp/encryption-key.rules.ts';
import { urlRulesOf } from '../config.ts';
import { defineModule, servedArea } from './module.ts';

export const merchants = defineModule('merchants', [
  servedArea('merchants', {
    contract: merchantsArea,
    position: 390,
    lookups: ({ database }) => ({ merchant: (id) => findMerchant(database.read(), id) }),
    handlers: ({ database, vault, config }) =>
      merchantHandlers({
        database,
        vault,
        assertInvited: createInviteCodes({ codes: config.BURSAR_MERCHANT_INVITE_CODES, mode: config.BURSAR_MODE }),
        urlRules: urlRulesOf(config),
        readEncryptionKey,
      }),
    entities: [MerchantRow, MerchantKeyRow],
    tables: ['merchants', 'merchant_encryption_keys'],
  }),
]);
