/**
 * The only place that registers handlers of signals and updates. Every input is made small first (`bounded`), then
 * read by the message's own `read`, and no handler can block the run: a signal's fault becomes a note, an update's
 * fault becomes its answer. A plain error in a handler would make the workflow task fail for ever.
 * @module
 */
import {
  ApplicationFailure,
  currentUpdateInfo,
  defineSignal,
  defineUpdate,
  setHandler,
  TemporalFailure,
} from '@temporalio/workflow';
import { bounded } from '../../src/kernel/bounded.ts';
import type { Ignored } from '../../src/kernel/message.ts';
import { asRefusal, refusal, refusalIn } from './refusals.ts';

type SignalHandler<Input> = {
  /** Gets a bounded value; answers `ignored` with the reason where it makes no sense. Must not throw. */
  readonly read: (typed: unknown) => Input | Ignored;
  readonly handle: (input: Input) => unknown;
  /** Is given the reason why an input was ignored or refused, because a signal has no caller to answer. */
  readonly note: (sentence: string) => void;
  /** Shown beside the signal in the Web UI. */
  readonly description: string;
};

export function onSignal<Input extends object>(
  name: string,
  { read, handle, note, description }: SignalHandler<Input>,
): void {
  const handler = async (...typed: unknown[]): Promise<void> => {
    const input = read(bounded(typed[0]));
    if ('ignored' in input) return note(input.ignored);
    try {
      await handle(input);
    } catch (error) {
      note(`${name} was refused: ${refusalIn(error) ?? 'it could not be carried out'}`);
    }
  };
  setHandler(defineSignal<unknown[]>(name), handler, { description });
}

type UpdateHandler<Answer, Input> = {
  /** As a signal's; what it ignores is the update's refusal. */
  readonly read: (typed: unknown, updateId: string) => Input | Ignored;
  /** Throws a refusal for what the row forbids already; such an update never enters the history. */
  readonly refuse?: (input: Input) => void;
  readonly handle: (input: Input) => Promise<Answer>;
  readonly description: string;
};

export function onUpdate<Answer, Input extends object>(
  name: string,
  { read, refuse, handle, description }: UpdateHandler<Answer, Input>,
): void {
  const inputOf = (typed: unknown): Input => {
    const input = read(bounded(typed), currentUpdateInfo()?.id ?? '');
    if ('ignored' in input) throw refusal('invalid_request', input.ignored);
    return input;
  };
  const handler = async (typed: unknown): Promise<Answer> => {
    try {
      return await handle(inputOf(typed));
    } catch (error) {
      throw asFailure(error);
    }
  };
  const validator = (typed: unknown): void => {
    const input = inputOf(typed);
    refuse?.(input);
  };
  setHandler(defineUpdate<Answer, [unknown]>(name), handler, { validator, description });
}

/** For messages that carry nothing: whatever was sent with them is not read. */
export const readNothing = (): Readonly<Record<string, never>> => ({});

/** Only a failure of the SDK ends the update alone; anything else is a bug, and would end every workflow task. */
function asFailure(error: unknown): unknown {
  const failure = asRefusal(error);
  if (failure instanceof TemporalFailure) return failure;
  const kind = failure instanceof Error ? failure.name : typeof failure;
  return ApplicationFailure.create({ message: `the update failed: ${kind}`, type: 'internal', nonRetryable: true });
}
