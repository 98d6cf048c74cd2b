/** A network's message as use cases get it: its content and its origin. Types only. @module */
import type { Cause } from '../../../platform/cause.ts';

export type MessageKind = 'authorization' | 'increment' | 'clearing' | 'reversal' | 'refund' | 'advice';

/** Why a message is kept without being booked, until an operator assigns it. */
export type Misfit = 'other_card' | 'other_currency';

/** Why a message waits for an operator. What it moved for an unknown card is booked, in suspense. */
export type Unsettled = Misfit | 'unknown_card';

/** One message with where it came from. `cause.causeId` names the adapter, the kind of message and the network's id. */
export type Received<Message> = {
  readonly adapter: string;
  readonly message: Message;
  /** Of what the message says, but for when it was sent: the same id saying something else is refused. */
  readonly requestHash: string;
  readonly cause: Cause;
};
