/**
 * The reference of a payment that every bank passes on unchanged, and that its messages are matched by. Pure, and
 * reversible: the transfer is found without a table.
 * @module
 */
import { assert } from '../../../kernel/assert.ts';
import { type Id, isId } from '../../../kernel/ids.ts';

/** The limit of the field; upper-case letters and digits are in every bank's character set, the underscore is not. */
const form = /^[0-9A-Z]{1,35}$/;
const prefix = 'TR';

export function endToEndIdOf(transferId: Id<'transfer'>): string {
  const endToEndId = `${prefix}${transferId.slice(transferId.indexOf('_') + 1).toUpperCase()}`;
  assert(form.test(endToEndId), `an end-to-end id of ${transferId}`);
  return endToEndId;
}

/** Undefined for a reference that is not of a transfer, for example `NOTPROVIDED` or one of another sender. */
export function transferIdOf(endToEndId: string): Id<'transfer'> | undefined {
  if (!form.test(endToEndId) || !endToEndId.startsWith(prefix)) return undefined;
  const id = `tr_${endToEndId.slice(prefix.length).toLowerCase()}`;
  return isId('transfer', id) ? id : undefined;
}
