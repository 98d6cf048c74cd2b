/** Whether a namespace of a Temporal server has what Bursar needs. Changes nothing. @module */
import { connect } from './connect.ts';
import { filterAttributes, probeOf } from './filter-attributes.ts';
import type { TemporalSecurity } from './security.ts';

export type TemporalFault =
  | { readonly kind: 'namespace' }
  /** Workflows run without them; operators cannot filter. */
  | { readonly kind: 'attributes'; readonly lacking: readonly string[] };

type Place = { readonly address: string; readonly namespace: string; readonly security: TemporalSecurity };

const answerWithinMs = 5_000;
/** gRPC's numbers. */
const invalidArgument = 3;
const missing = 5;

/** Undefined where nothing is missing. Throws for a server that does not answer, or refuses to. */
export async function temporalFault({ address, namespace, security }: Place): Promise<TemporalFault | undefined> {
  const connection = await connect({ address, ...security, connectTimeout: answerWithinMs });
  const { workflowService } = connection;
  const refuses = async (query: string): Promise<number | undefined> => {
    try {
      await workflowService.countWorkflowExecutions({ namespace, query });
      return undefined;
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (code !== invalidArgument && code !== missing) throw error;
      return code;
    }
  };
  try {
    return await connection.withDeadline(Date.now() + answerWithinMs, async () => {
      // Asked as the processes ask: a credential that may run workflows need not be allowed to describe the namespace.
      if ((await refuses('')) !== undefined) return { kind: 'namespace' };
      const names = Object.keys(filterAttributes());
      const refused = await Promise.all(names.map((name) => refuses(probeOf(name))));
      const lacking = names.filter((_, index) => refused[index] !== undefined);
      return lacking.length === 0 ? undefined : { kind: 'attributes', lacking };
    });
  } finally {
    await connection.close();
  }
}
