/**
 * A list of sanctioned persons and entities, as Bursar uses it: names with the reference of their entry. Where no list
 * could be read yet, `current` is a DomainError `unavailable`, so that no payee is paid unscreened.
 * @module
 */
export type ListedName = {
  /** Of the entry in the list; several names have the same. */
  readonly reference: string;
  /** As the list has it, in any alphabet. */
  readonly name: string;
};

export type ListOfNames = {
  /** Which list this is, and of when. */
  readonly id: string;
  readonly names: readonly ListedName[];
};

/** `degraded`: the newest list cannot be read, and an older one is used. `down`: there is none. */
export type SanctionsState = 'ok' | 'degraded' | 'down';

export type SanctionsList = {
  /** The same object as long as the list is the same. */
  current(): Promise<ListOfNames>;
  state(): Promise<SanctionsState>;
};
