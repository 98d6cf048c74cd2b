/**
 * The three outcomes of any command on a row: it moved, the same cause has moved it before, or it is refused.
 * @module
 */
export type Move<Status extends string> =
  | { readonly outcome: 'moved'; readonly next: Status }
  | { readonly outcome: 'already'; readonly next: Status }
  | { readonly outcome: 'refused'; readonly why: string };
