/**
 * An agent without a model: it knows what it wants, and no name of a tool. It chooses the first call by the schemas that it
 * was given, and each further one by the field `next` of the answer.
 * @module
 */
export type Wish = Readonly<Record<string, string | number>>;

export type OfferedTool = {
  readonly name: string;
  readonly inputSchema: { readonly properties?: object | undefined; readonly required?: readonly string[] | undefined };
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
};

export type Toolbox = {
  list(): Promise<readonly OfferedTool[]>;
  /** The JSON of the answer, and whether it is a refusal. */
  call(name: string, args: object): Promise<{ isRefused: boolean; body: Record<string, unknown> }>;
};

export type Ended = {
  readonly isRefused: boolean;
  readonly body: Record<string, unknown>;
  readonly calls: readonly string[];
};

/** A purchase has few steps; waiting takes some more. */
const mostCalls = 40;

export async function pursue(wish: Wish, { list, call }: Toolbox): Promise<Ended> {
  const tools = await list();
  let name = firstFor(wish, tools).name;
  let args: object = {};
  const calls: string[] = [];
  for (;;) {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error('the next step names a tool that is not in the list');
    const fields = Object.keys(tool.inputSchema.properties ?? {});
    const wanted = Object.fromEntries(Object.entries(wish).filter(([field]) => fields.includes(field)));
    const { isRefused, body } = await call(name, { ...wanted, ...args });
    calls.push(name);
    const next = body.next as { readonly tool?: string; readonly arguments?: object };
    if (next.tool === undefined || (isRefused && body.code !== 'unavailable')) return { isRefused, body, calls };
    if (calls.length === mostCalls) throw new Error(`no end after ${mostCalls} calls: ${calls.join(' ')}`);
    name = next.tool;
    args = next.arguments ?? {};
  }
}

/** The call that changes something, for which the wish has all that is required, and the most of it. */
function firstFor(wish: Wish, tools: readonly OfferedTool[]): OfferedTool {
  const fitting = tools
    .filter(
      ({ inputSchema: { required = [] }, annotations }) =>
        annotations?.readOnlyHint !== true && required.every((name) => name in wish),
    )
    .sort((one, other) => (other.inputSchema.required?.length ?? 0) - (one.inputSchema.required?.length ?? 0));
  const [first] = fitting;
  if (first === undefined) throw new Error('no tool takes what is wished for');
  return first;
}
