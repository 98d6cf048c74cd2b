/** A planted fault: one change of one file, and the tests that have to notice it. Types and small helpers only. @module */

export const faultKinds = [
  'rules',
  'money',
  'sql',
  'isolation',
  'signatures',
  'locks',
  'workflows',
  'outbound',
  'devices',
  'deliveries',
] as const;
export type FaultKind = (typeof faultKinds)[number];

export type Fault = {
  readonly kind: FaultKind;
  /** From the root of the project. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** What an owner, an agent or an operator would suffer. */
  readonly harm: string;
  /** Patterns of test files, as Jest takes them, the one that should notice first. At least one test has to fail. */
  readonly tests: readonly string[];
  /** A part of the name of the test that notices it, as Jest takes it; absent: all tests of these files run. */
  readonly named?: string;
  /** Of a fault that no test can notice: why no caller, owner or operator can notice it either. */
  readonly harmless?: string;
};

export type Planted = Omit<Fault, 'kind' | 'file' | 'tests'> & { readonly tests?: readonly string[] };

/** Several faults of one file that the same tests notice. */
export const faultsIn = (
  kind: FaultKind,
  file: string,
  tests: readonly string[],
  planted: readonly Planted[],
): readonly Fault[] => planted.map((one) => ({ tests, ...one, kind, file }));
