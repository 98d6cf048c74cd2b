/**
 * Carries out a command of the model's owner on the model, and says which status the product must answer with.
 * @module
 */
import type { PaymentModel } from './payment-model.ts';
import type { ModelIntent } from './payment-shapes.ts';
import type { Action } from './payment-steps.ts';

export type Command = Exclude<Action, { readonly do: 'send' | 'advance' }>;
/** `intent`: the one that was made, or that was made before. */
export type Commanded = { readonly status: number; readonly intent?: ModelIntent };

export function commandModel(model: PaymentModel, command: Command, now: Date): Commanded {
  switch (command.do) {
    case 'declare':
      return model.declare(command.declaration, now);
    case 'allowOnce':
      return model.allowOnce(command.payment, now);
    case 'approve':
    case 'deny':
    case 'cancel':
      return { status: model[command.do](command.intent, now) };
    case 'freezeAgent':
    case 'unfreezeAgent':
      return { status: model[command.do](command.agent) };
    case 'issueCard':
      return { status: model.issueCard(command.agent, command.usage) };
    default:
      return { status: model[command.do](command.card) };
  }
}
