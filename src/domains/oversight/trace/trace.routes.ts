/** Answers the trace operation by its use case. No decision is made here. @module */
import type { Call, Own } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import type { TraceWire, traceArea } from './trace.contract.ts';

export type ReadTrace = (id: string, own: Own, call: Pick<Call, 'caller'>) => Promise<TraceWire>;

export const traceHandlers = ({ read }: { readonly read: ReadTrace }): Handlers<typeof traceArea> => ({
  getTrace: ({ params: { anyId }, own }, call) => read(anyId, own, call),
});
