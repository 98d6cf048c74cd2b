/** Opens the answer of a merchant for the caller of one payment: the receipt and the body, which are kept sealed. @module */
import type { Database } from '../../../db/database.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { MerchantBodyWire } from './merchant-body.wire.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import { type AnsweredRow, sealedBodyOf } from './mpp-payment.queries.ts';
import { bodyContext, type KeptReceipt, receiptContext } from './mpp-payment.service.ts';
import type { OpenedAnswer } from './mpp-payment.wire.ts';

type Deps = { readonly database: Database; readonly vault: Pick<Vault, 'open'> };

export async function openAnswer(
  { database, vault }: Deps,
  row: Readonly<MppPaymentRow> | AnsweredRow,
): Promise<OpenedAnswer> {
  const { id, sealedReceipt } = row;
  const sealedBody = 'sealedBody' in row ? row.sealedBody : await sealedBodyOf(database.read(), id, new Date());
  const kept =
    sealedReceipt == null
      ? undefined
      : (JSON.parse(await vault.open(sealedReceipt, receiptContext(id))) as KeptReceipt);
  const body =
    sealedBody === null ? null : (JSON.parse(await vault.open(sealedBody, bodyContext(id))) as MerchantBodyWire);
  return { receipt: kept?.raw ?? '', decoded: kept?.receipt ?? null, body };
}
