/**
 * Names of workflow messages with their payload and answer types; the wire between API, worker and workflows.
 * Payloads carry ids, amounts, states and codes only.
 * @module
 */
export type Message<Answer, Payload> = { readonly name: string; readonly _types?: (payload: Payload) => Answer };

/** What a message's reader answers for an input that makes no sense: why it was ignored, in a sentence. */
export type Ignored = { readonly ignored: string };

export const message = <Answer, Payload>(name: string): Message<Answer, Payload> => ({ name });
