/**
 * The characters that a caller's text may contain. Refused are characters that cannot be stored (lone surrogates, NUL),
 * that hide (other control characters, zero-width spaces) or that reorder text (bidirectional embeddings, overrides and
 * isolates), and rows of invisible characters or marks. Emoji and scripts need joiners and direction marks.
 * @module
 */

/** Well-formed Unicode without NUL: anything else can be stored neither as text nor as JSON. */
export const isWellFormed = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Plain ranges, because the patterns are published and many languages know no `\p{…}`. */
const hiding = '\\u007f-\\u009f\\u200b\\u2028-\\u202e\\u2060\\u2066-\\u2069\\ufeff\\ufff9-\\ufffb';

export const oneLine = new RegExp(`^[^\\u0000-\\u001f${hiding}]*$`);

/** As `oneLine`, with tabs and line feeds. */
export const manyLines = new RegExp(`^[^\\u0000-\\u0008\\u000b-\\u001f${hiding}]*$`);

const hidden = new RegExp(`[\\u0000-\\u001f${hiding}]`, 'g');

/** What `oneLine` admits of it. */
export const withoutHidden = (text: string): string => text.replace(hidden, '');

/**
 * Removes what can carry invisible text or cover the lines around: three invisible characters or nine marks in
 * a row. Emoji and scripts need fewer; the flags of England, Scotland and Wales are spelled in invisible tags.
 */
export const isLegible = (text: string): boolean => !crowd.test(text.replace(flagOfTags, ''));

const crowd = /\p{Default_Ignorable_Code_Point}{3}|\p{M}{9}/u;
const flagOfTags = /\u{1f3f4}[\u{e0061}-\u{e007a}]{5}\u{e007f}/gu;

/** What `isLegible` admits of it. */
export const withoutCrowds = (text: string): string =>
  text
    .replace(/(\p{Default_Ignorable_Code_Point}{2})\p{Default_Ignorable_Code_Point}+/gu, '$1')
    .replace(/(\p{M}{8})\p{M}+/gu, '$1');

/** Well-formed, and empty or with at least one character that a reader sees. */
export const isReadable = (text: string): boolean => isWellFormed(text) && (text === '' || !invisible.test(text));

/** U+2800 is a braille cell without a dot, which Unicode counts as a symbol. */
const invisible = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u;
