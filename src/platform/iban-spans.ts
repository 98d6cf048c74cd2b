/**
 * Finds bank accounts in text: IBANs with a valid check number and their country's length, also in groups. Pure.
 * @module
 */
import { covers, ownNames, type Span, spansOf } from './card-number-spans.ts';

export function ibansIn(text: string): Span[] {
  const names = spansOf(text, ownNames);
  const found: Span[] = [];
  for (const start of startsIn(text)) {
    const end = endOfIban(text, start);
    const isInside = start < (found.at(-1)?.[1] ?? 0);
    if (end !== undefined && !isInside && !names.some((name) => covers(name, [start, end]))) found.push([start, end]);
  }
  return found;
}

const lengths: Readonly<Record<string, number>> = Object.fromEntries(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
   FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
   LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
   RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** In lower case only where a word begins: hexadecimal digests are full of `de12`. */
const startsIn = (text: string): number[] =>
  [...text.matchAll(/[A-Z]{2}[\s-]?\d{2}|(?<![A-Za-z0-9])[A-Za-z]{2}[\s-]?\d{2}/g)].map((match) => match.index);

function endOfIban(text: string, start: number): number | undefined {
  const wanted = lengths[text.slice(start, start + 2).toUpperCase()];
  if (wanted === undefined) return undefined;
  let account = '';
  for (let at = start; at < text.length && at < start + wanted * 2; at++) {
    const character = text[at]!;
    if (/[A-Za-z0-9]/.test(character)) account += character.toUpperCase();
    else if (!/[\s-]/.test(character)) return undefined;
    if (account.length === wanted) return remainder97(account) === 1 ? at + 1 : undefined;
  }
  return undefined;
}

function remainder97(account: string): number {
  let remainder = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
