/**
 * What tokens, keys, sealed and signed texts look like, as patterns with their replacements. The time of each pattern
 * grows with the length of the text and no faster.
 * @module
 */
export const masked = '[redacted]';

/** Strong prefixes are masked wherever they stand; `sk_` and `at_` alone end ordinary words (`task_`, `format_`). */
export const secretForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g, masked],
  // The part before the first dot is scanned once from its beginning, not again from each `eyJ` within it.
  [/(?<![\w-])(?=[\w-]+\.)([\w-]*?)eyJ[\w-]{6,}(?:\.[\w-]*){1,4}/g, `$1${masked}`],
  // Credentials have a digit or a sign in them, or are long; “payment method” and “basic rules” are words.
  // The id of a machine payment is no credential.
  [
    /\b(Bearer|Basic|Payment)\s+(?!mpay_[a-z0-9]{8,64}\b)(?:(?=[\w.~+/=:-]*[\d+/=])[\w.~+/=:-]{6,}|[\w.~+/=:-]{20,})/gi,
    `$1 ${masked}`,
  ],
  [/(?:mer_sk|whsec|spt|sk_(?:sandbox|test|live)|at_(?:test|live|dlg))_[\w+/=-]{8,}/g, masked],
  [/(?<![A-Za-z0-9_])(?:sk|at)_[\w+/=-]{16,}/g, masked],
  [/(:\/\/)[^\s/@:]*:[^\s/@]*@/g, `$1${masked}@`],
];
