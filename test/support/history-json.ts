/**
 * A run's history as plain JSON and back, for the replay suite: what the server tells, with names for enums and base64
 * for bytes. (The SDK's own pair fails where npm installs protobufjs twice.)
 * @module
 */
import type { WorkflowHandle } from '@temporalio/client';
// biome-ignore lint/correctness/noUnresolvedImports: it is CommonJS, and all of it is its default
import proto from '@temporalio/proto';

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

const { History: Type } = proto.temporal.api.history.v1;

export const historyToJson = (history: History): Record<string, unknown> =>
  Type.toObject(Type.fromObject(history), { enums: String, longs: String, bytes: String });

export const historyFromJson = (json: Record<string, unknown>): History => Type.fromObject(json);
