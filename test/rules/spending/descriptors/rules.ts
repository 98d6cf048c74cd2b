/**
 * Pairs of a declared merchant and a descriptor, for the matcher of intents. Each names the published document that it
 * is from, or the rule below by which it was constructed. The names are invented, but for a few short ones.
 * @module
 */
export type Pair = readonly [declared: string, descriptor: string, source: string];

/** How one merchant comes to be spelt otherwise. Where a document says so, it is named. */
export const constructedSame: Readonly<Record<string, string>> = {
  square: 'SQ * before the name (transactionlookup.com, common confusing bank statement codes)',
  toast: 'TST* before the name (the same)',
  paypal: 'PAYPAL * before the name, which is cut after 14 characters (22 in all), short names without spaces',
  sumup: 'SumUp, two spaces and * before the name',
  zettle: 'ZETTLE_* before the name',
  'cut-22': 'cut after 22 characters (stripe.com, statement descriptors)',
  'cut-25': 'name and city, cut after 25 characters (ISO 8583, field 43)',
  city: 'the city follows (ISO 8583, field 43)',
  'city-country': 'city and country follow (the same)',
  'store-number': 'the number of the branch follows',
  phone: 'a number to call follows (Braintree, descriptors)',
  'order-suffix': 'an asterisk and the order follow (Stripe, statement descriptor suffix)',
  transliterated: 'ä, ö, ü are written ae, oe, ue; capital letters',
  'accents-dropped': 'letters without their accents; capital letters',
  joined: 'no spaces and no signs',
  'web-address': 'the name as a host',
  'legal-form': 'the legal form follows',
  punctuation: 'signs instead of spaces',
};

/** How another merchant comes to be called almost alike. */
export const constructedDifferent: Readonly<Record<string, string>> = {
  'other-second-word': 'one of the later words is another word',
  'other-first-word': 'one of the first words is another word',
  'other-number': 'the number in the name is another one, or missing',
  'one-letter-in-a-short-name': 'one letter of a short name is another one, missing or added',
  'one-letter-in-a-long-name': 'the same of a long name, where a comparison by distance would forgive it',
  'look-alike-letters': 'letters of another script, or figures, that look like those of the name',
  'begins-a-longer-name': 'the name is the beginning of the name of a merchant of another trade',
  'sells-the-other': 'another merchant has the name in its own, because it sells what that one sells',
  'other-top-level-domain': 'a host of the same name under another domain, which anyone may register',
  'cut-to-another-name': 'a name that is cut at 22 or 25 characters, or earlier, is the beginning of another one',
  'inside-another-name': 'the name is a part of a longer word',
  'payer-service-alone': 'the same payment service, or the declared one is the service through which another is paid',
  'generic-words-in-common': 'only words are the same that many merchants have in their names',
};
