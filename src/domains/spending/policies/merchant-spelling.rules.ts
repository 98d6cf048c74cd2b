/** How the name of a merchant is compared: without case, accents and signs; and the host in an address. @module */
import { remember } from '../../../kernel/remember.ts';

/** A charge is compared with all open intents of its card, and the same merchants come again. */
export const remembered = 2_000;

/** `Café  Müller-GmbH` and `cafe muller gmbh` read alike; letters of any script are kept. */
export const normalised = remember(remembered, (text): string =>
  text
    .replaceAll('´', '') // Of which the next line would make a space and an accent.
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('&', ' and ')
    .replace(/['’`]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim(),
);

/** The lower-case host in `example.com`, `https://www.example.com/x` or `example.com:443`; undefined for a name. */
export const domainIn = remember(remembered, (text): string | undefined => {
  const bare = text.trim().toLowerCase();
  if (!/^(https?:\/\/)?[^\s/.:@]+(\.[^\s/.:@]+)+\.?(:\d+)?(\/\S*)?$/u.test(bare)) return undefined;
  const address = bare.includes('://') ? bare : `http://${bare}`;
  if (!URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, '').replace(/^www\./, '');
});
