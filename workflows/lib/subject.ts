/**
 * Reads the id that a run was started with. A person with access to the namespace can start a run with any input, and a
 * plain error in workflow code would make its workflow task fail for ever; so an invalid id ends the run with a reason.
 * @module
 */
import { refusal } from './refusals.ts';

/** Of the input `{id}`. Whether a row has that id is the first activity's answer. */
export function subjectOf<Id extends string>(input: { readonly id: Id }): Id {
  const sent: unknown = input;
  const id: unknown = typeof sent === 'object' && sent !== null ? Reflect.get(sent, 'id') : undefined;
  if (typeof id === 'string' && idForm.test(id)) return id as Id;
  throw refusal('invalid_request', 'this workflow is started with the id of its record, as {"id":"…"}');
}

const idForm = /^[\w-]{1,100}$/;
