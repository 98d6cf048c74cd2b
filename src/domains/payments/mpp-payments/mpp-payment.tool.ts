/**
 * Seals the arguments of a merchant's tool for a payment's row, and opens them for the steps that call it. They are kept
 * until the credential was sent.
 * @module
 */
import type { Vault } from '../../../vault/vault.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import { type SealedTool, toolContext } from './mpp-payment.service.ts';
import type { ToolCall } from './paid-resource.port.ts';

type Row = Pick<Readonly<MppPaymentRow>, 'id' | 'toolName' | 'sealedToolArguments'>;

export const sealTool = async (vault: Pick<Vault, 'seal'>, paymentId: string, tool: ToolCall): Promise<SealedTool> => ({
  name: tool.name,
  sealedArguments: await vault.seal(JSON.stringify(tool.arguments), toolContext(paymentId)),
});

/** What is sold, where it is no address. */
export async function openTool(
  vault: Pick<Vault, 'open'>,
  { id, toolName, sealedToolArguments }: Row,
): Promise<ToolCall | undefined> {
  if (toolName == null) return undefined;
  if (sealedToolArguments == null) throw new Error(`the arguments of the tool of payment ${id} are not kept any more`);
  const opened = await vault.open(sealedToolArguments, toolContext(id));
  return { name: toolName, arguments: JSON.parse(opened) as ToolCall['arguments'] };
}
