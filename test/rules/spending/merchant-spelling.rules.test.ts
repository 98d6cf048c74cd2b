/** How the name of a merchant reads when it is compared, and which texts are addresses. @module */
import { expect, test } from '@jest/globals';
import { domainIn, normalised } from '../../../src/domains/spending/policies/merchant-spelling.rules.ts';

test.each<[written: string, read: string]>([
  ['Café  Müller-GmbH', 'cafe muller gmbh'],
  ['ﬁne ＡＢＣ ½', 'fine abc 1 2'],
  ['Große Straße', 'grosse strasse'],
  ['H&M', 'h and m'],
  ['B&Q&Co', 'b and q and co'],
  ["McDonald's", 'mcdonalds'],
  ['McDonald’s', 'mcdonalds'],
  ['McDonald`s', 'mcdonalds'],
  ['McDonald´s', 'mcdonalds'],
  ['Ca\u00adsi\u200dno', 'casino'],
  ['7-Eleven', '7 eleven'],
  ['!!Shop -- Berlin??', 'shop berlin'],
  ['书店', '书店'],
  ['Пекарня №5', 'пекарня no5'],
  ['!!', ''],
])('the name %s reads as %s', (written, read) => expect(normalised(written)).toBe(read));

test.each<[written: string, host: string | undefined]>([
  ['example.com', 'example.com'],
  [' EXAMPLE.com ', 'example.com'],
  ['shop.example.co.uk', 'shop.example.co.uk'],
  ['http://example.com', 'example.com'],
  ['https://www.example.com/x', 'example.com'],
  ['example.com/', 'example.com'],
  ['example.com/path/further', 'example.com'],
  ['example.com:443', 'example.com'],
  ['example.com:443/x', 'example.com'],
  ['example.com.', 'example.com'],
  ['shop.www.example.com', 'shop.www.example.com'],
  ['müller.example', 'xn--mller-kva.example'],
  ['example', undefined],
  ['Shop', undefined],
  ['example.com shop', undefined],
  ['example.com/x y', undefined],
  ['see example.com', undefined],
  ['ftp://example.com', undefined],
  ['anna@example.com', undefined],
  ['example.com:', undefined],
  ['example.com:abc', undefined],
  ['example.com:99999', undefined],
  ['example..com', undefined],
  ['', undefined],
])('the host in %s is %s', (written, host) => expect(domainIn(written)).toBe(host));
