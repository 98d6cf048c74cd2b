/** Named groups of merchant category codes (ISO 18245) that a policy may list instead of codes. @module */
type Span = readonly [first: number, last: number];

const groups = {
  advertising: [[7311, 7311]],
  airlines: [
    [3000, 3350],
    [4511, 4511],
  ],
  business_services: [
    [7392, 7399],
    [8931, 8931],
    [8999, 8999],
  ],
  car_hire: [
    [3351, 3500],
    [7512, 7513],
  ],
  cash: [
    [6010, 6012],
    [6050, 6051],
    [4829, 4829],
  ],
  clothing: [[5611, 5699]],
  digital_goods: [[5815, 5818]],
  education: [[8211, 8299]],
  electronics: [
    [5045, 5046],
    [5732, 5733],
  ],
  fuel: [
    [5541, 5542],
    [5552, 5552],
  ],
  gambling: [
    [7800, 7802],
    [7995, 7995],
  ],
  government: [[9211, 9405]],
  groceries: [
    [5411, 5411],
    [5422, 5499],
  ],
  insurance: [
    [5960, 5960],
    [6300, 6399],
  ],
  lodging: [
    [3501, 3999],
    [7011, 7011],
  ],
  media: [
    [5192, 5192],
    [5942, 5942],
    [5994, 5994],
  ],
  office_supplies: [
    [5111, 5111],
    [5943, 5943],
  ],
  pharmacy: [
    [5122, 5122],
    [5912, 5912],
  ],
  postage: [
    [4214, 4215],
    [9402, 9402],
  ],
  restaurants: [[5811, 5814]],
  retail: [
    [5200, 5399],
    [5712, 5722],
    [5931, 5999],
  ],
  software: [
    [4816, 4816],
    [5734, 5734],
    [7372, 7379],
  ],
  telecommunication: [
    [4812, 4821],
    [4899, 4899],
  ],
  transport: [
    [4111, 4131],
    [4784, 4789],
  ],
  travel_agencies: [[4722, 4723]],
  utilities: [[4900, 4900]],
} as const satisfies Record<string, readonly Span[]>;

export type MccCategory = keyof typeof groups;
export const mccCategories = Object.keys(groups) as MccCategory[];

/** Its codes, as documentation shows them: `3000 to 3350, 4511`. */
export const codesInWords = (category: MccCategory): string =>
  (groups[category] as readonly Span[])
    .map((span) => span.map((code) => String(code).padStart(4, '0')))
    .map(([first, last]) => (first === last ? first : `${first} to ${last}`))
    .join(', ');

export const isMccCategory = (name: string): name is MccCategory => Object.hasOwn(groups, name);

export function isInCategory(mcc: string, category: string): boolean {
  if (!isMccCategory(category)) return false;
  const code = Number(mcc);
  const spans: readonly Span[] = groups[category];
  return /^\d{4}$/.test(mcc) && spans.some(([first, last]) => code >= first && code <= last);
}
