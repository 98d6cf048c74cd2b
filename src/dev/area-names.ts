/** The names that a new area gets from its domain and its folder, and why a name is refused. Pure. @module */

/** In the order in which a domain may import another. */
export const domains = [
  'identity',
  'parties',
  'merchants',
  'treasury',
  'spending',
  'cards',
  'payments',
  'oversight',
  'insight',
  'delivery',
] as const;

export type Domain = (typeof domains)[number];

const isDomain = (name: string): name is Domain => domains.some((known) => known === name);

export type AreaNames = {
  readonly domain: Domain;
  /** Folder and path: `gift-cards`. */
  readonly area: string;
  /** File name: `gift-card`. */
  readonly noun: string;
  /** `giftCard`, also the kind of id. */
  readonly camel: string;
  /** `GiftCard`. */
  readonly pascal: string;
  /** `giftCards`. */
  readonly plural: string;
  /** `GiftCards`. */
  readonly pascalPlural: string;
  /** `gift_card`, also the first part of event names. */
  readonly snake: string;
  /** `gift_cards`. */
  readonly table: string;
  /** In sentences: `gift card`. */
  readonly words: string;
  /** Tag of the API: `Gift Cards`. */
  readonly tag: string;
};

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const pascalOf = (kebab: string): string => kebab.split('-').map(capital).join('');
const camelOf = (kebab: string): string => pascalOf(kebab).replace(/^./, (first) => first.toLowerCase());

function singularOf(area: string): string {
  if (area.endsWith('ies')) return `${area.slice(0, -3)}y`;
  if (/(ch|sh|ss|x|z)es$/.test(area)) return area.slice(0, -2);
  return area.slice(0, -1);
}

/** Throws one sentence when the domain or the area has a wrong form. */
export function namesOf(domain: string, area: string): AreaNames {
  if (!isDomain(domain)) {
    throw new Error(`there is no domain ${domain}; name one of ${domains.join(', ')}`);
  }
  if (!/^[a-z]+(-[a-z]+)*s$/.test(area) || area.length > 30) {
    throw new Error(`an area is named by a plural in lower case, words joined by hyphens, such as gift-cards: ${area}`);
  }
  const noun = singularOf(area);
  return {
    domain,
    area,
    noun,
    camel: camelOf(noun),
    pascal: pascalOf(noun),
    plural: camelOf(area),
    pascalPlural: pascalOf(area),
    snake: noun.replaceAll('-', '_'),
    table: area.replaceAll('-', '_'),
    words: noun.replaceAll('-', ' '),
    tag: area.split('-').map(capital).join(' '),
  };
}

/** Secrets begin with these (`src/platform/secret-forms.ts`): ids that did would be masked in logs. */
const prefixesOfSecrets: readonly string[] = ['sk', 'at', 'spt', 'whsec'];

/** The shortest prefix of two letters or more that no other kind of id has, and no secret. */
export function idPrefixOf({ snake }: AreaNames, taken: readonly string[]): string {
  const [first = '', ...others] = snake.split('_');
  const initials = [first, ...others].map((word) => word.charAt(0)).join('');
  const letters = snake.replaceAll('_', '');
  const candidates = [
    ...(initials.length > 1 ? [initials] : []),
    ...Array.from({ length: letters.length - 1 }, (_, index) => letters.slice(0, index + 2)),
  ];
  const free = candidates.find((prefix) => !taken.includes(prefix) && !prefixesOfSecrets.includes(prefix));
  if (free === undefined) throw new Error(`every id prefix made from ${snake} is taken; choose another name`);
  return free;
}
