/**
 * Signals and updates as raw payloads, which no data converter of ours has made: what the CLI, the Web UI or a stranger
 * may send.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type Client, isGrpcServiceError, type WorkflowHandle } from '@temporalio/client';
import fc from 'fast-check';

export type RawPayload = { metadata?: Record<string, Uint8Array>; data?: Uint8Array };

const bytes = (text: string): Uint8Array => Buffer.from(text);
const encoded = (encoding: string, data: string): RawPayload => ({
  metadata: { encoding: bytes(encoding) },
  data: bytes(data),
});
const json = (text: string): RawPayload => encoded('json/plain', text);
const written = (value: unknown): RawPayload => json(JSON.stringify(value));

const long = 'x'.repeat(600);
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const decision = {
  decision: 'approve',
  actor: 'key',
  by: 'key_aaaaaaaa',
  causeId: 'c',
  requestId: 'r',
  signature: 'p',
};

const fixed: readonly RawPayload[][] = [
  [],
  [{}],
  [{ metadata: {} }],
  [{ metadata: { encoding: bytes('json/plain') } }],
  [encoded('application/x-unknown', 'abc')],
  [encoded('json/protobuf', '{}')],
  [encoded('binary/protobuf', '\u0001')],
  [encoded('binary/plain', 'abc')],
  [encoded('binary/null', '')],
  [encoded('binary/encrypted', 'abc')],
  [json('')],
  [json('{')],
  [json(nested(5_000))],
  [json(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)],
  [json('1e999')],
  [json('{"__proto__":{"decision":"approve"},"constructor":1,"toString":2}')],
  [json('"\\ud800"')],
  [json('{"checkoutId":"chk_\\u0000aaaaaaaa","by":"\\u0000","decision":"approve"}')],
  [written('x'.repeat(100_000))],
  [written({ checkoutId: long })],
  [written({ checkoutId: `chk_${'a'.repeat(64)}` })],
  [written({ checkoutId: `chk_${'a'.repeat(600)}` })],
  [written({ checkoutId: ['chk_aaaaaaaa'] })],
  [written({ ...decision, causeId: long, requestId: long })],
  [written({ ...decision, by: long, signature: long })],
  [written({ ...decision, extra: JSON.parse(nested(40)) as unknown })],
  [written({ ...decision, extra: Array.from({ length: 2_000 }, (_, n) => n) })],
  [written(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${long}${n}`, long])))],
  [written(decision), written(decision), json('{'), {}],
  [written({ decision: { toString: 1 }, by: { toString: null } })],
];

const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 700 }), fc.constant(long));
const fields = fc.dictionary(
  fc.oneof(
    fc.constantFrom('decision', 'actor', 'by', 'causeId', 'requestId', 'signature', 'checkoutId', 'id'),
    fc.string(),
  ),
  fc.oneof(
    fc.constantFrom<unknown>('approve', 'deny', 'key', 'passkey', 'chk_aaaaaaaa', null),
    anyText,
    fc.jsonValue(),
  ),
);
const payload: fc.Arbitrary<RawPayload> = fc.oneof(
  fields.map(written),
  fc.jsonValue().map(written),
  anyText.map(json),
  fc
    .tuple(fc.constantFrom('json/plain', 'binary/null', 'binary/plain', '', 'x/y'), anyText)
    .map(([encoding, data]) => encoded(encoding, data)),
);
const generated = fc.array(payload, { maxLength: 3 });

export function rawMessages(client: Client) {
  const namespace = 'default';
  const execution = ({ workflowId }: WorkflowHandle) => ({ namespace, workflowExecution: { workflowId } });
  return {
    fixed,
    generated,
    signal: async (to: WorkflowHandle, signalName: string, payloads: RawPayload[]): Promise<void> => {
      await client.workflowService.signalWorkflowExecution({
        ...execution(to),
        signalName,
        input: { payloads },
        requestId: randomUUID(),
      });
    },
    /** Returns when the update is accepted or refused, not when it is done. A refusal by the server is fine too. */
    update: async (to: WorkflowHandle, name: string, payloads: RawPayload[]): Promise<void> => {
      try {
        await client.connection.withDeadline(Date.now() + 20_000, () =>
          client.workflowService.updateWorkflowExecution({
            ...execution(to),
            waitPolicy: { lifecycleStage: 2 },
            request: { meta: { updateId: randomUUID(), identity: 'test' }, input: { name, args: { payloads } } },
          }),
        );
      } catch (error) {
        if (!isGrpcServiceError(error)) throw error;
      }
    },
  };
}
