/**
 * Goal: nothing that the specification states is left out. Method: every fact in a copy of it belongs to an area; of
 * the areas that are built, each fact is looked up in the published interface and named by a test that proves it.
 * @module
 */
import { expect, test } from '@jest/globals';
import { nearName } from '../../src/http/near-name.ts';
import { general } from './areas.ts';
import { problemOf, servedAreas } from './contracts.ts';
import { read, type Stated, specification } from './facts.ts';
import { isBuilt, isBuiltArea, notBuiltYet } from './not-built-yet.ts';
import { saysNothing, statements } from './statements.ts';
import { proves, tags } from './tags.ts';

const { facts, unread } = read(specification);
const built = facts.filter(isBuilt);
const areas = facts.filter(({ claim }) => claim.kind === 'area').map(({ area }) => area);
const named = tags();
const inWords = ({ id, line, area }: Stated): string => `${id} (${area}, line ${line})`;

test('every line of the specification is understood', () => {
  expect(unread).toEqual([]);
  const words = [...Object.keys(statements), ...saysNothing];
  expect(words.filter((sentence) => !specification.includes(sentence))).toEqual([]);
});

test('a fact belongs to one area of the specification', () => {
  expect(areas).toHaveLength(new Set(areas).size);
  expect(facts.filter(({ area }) => area !== general && !areas.includes(area)).map(inWords)).toEqual([]);
  expect(notBuiltYet.filter((one) => !facts.some(({ id, area }) => id === one && isBuiltArea(area)))).toEqual([]);
});

test('of an area without operations nothing is published and no test proves a fact', () => {
  const unbuilt = facts.filter((fact) => !isBuilt(fact));
  const single = named.tags.filter(({ id }) => !id.endsWith('*'));
  const proven = unbuilt.filter(({ id }) => single.some((tag) => tag.id === id));
  expect(proven.map(inWords)).toEqual([]);
  const published = unbuilt.filter(({ claim, area }) => isLookedUp(claim) && problemOf(claim, area) === undefined);
  expect(published.map(inWords)).toEqual([]);
});

test('no tag is a misspelt area, whose facts nothing would ask for', () => {
  const unbuilt = areas.filter((area) => !isBuiltArea(area));
  const misspelt = (tag: string) => (areas.includes(tag) ? undefined : nearName(tag, unbuilt));
  expect([...servedAreas].filter((tag) => misspelt(tag) !== undefined)).toEqual([]);
  expect(unbuilt.filter((area) => misspelt(area.replace(' ', '').slice(0, -1)) !== area)).toEqual([]);
});

const isLookedUp = ({ kind }: Stated['claim']): boolean => kind === 'path' || kind === 'alias';

// spec: area:*
// spec: refusals:*
test('every fact of the built areas is in the published interface', () => {
  const problems = built.map((fact) => [fact, problemOf(fact.claim, fact.area)] as const);
  const wrong = problems.filter(([, problem]) => problem !== undefined);
  expect(wrong.map(([fact, problem]) => `${inWords(fact)}: ${problem}`)).toEqual([]);
});

test('every fact of the built areas is tagged at a test', () => {
  expect(named.misplaced).toEqual([]);
  const unknown = named.tags.filter((tag) => !facts.some(({ id }) => proves(tag, id)));
  expect(unknown.map(({ id, place }) => `${place}: the specification states no ${id}`)).toEqual([]);
  const unsigned = built.filter(({ id }) => !named.tags.some((tag) => proves(tag, id)));
  expect(unsigned.map(inWords)).toEqual([]);
});

test('a specification that changed does not slip through', () => {
  const row = '| name | string | required, minLength 1 |';
  const more = read(specification.replace(row, `${row}\n| weeklyLimitEuros | number or null | minimum 0 |`)).facts;
  const fresh = more.filter(({ id }) => !facts.some((fact) => fact.id === id));
  expect(fresh.map(({ id }) => id)).toEqual([
    'field:PolicyCreateRequest.weeklyLimitEuros',
    'field:PolicyCreateRequest.weeklyLimitEuros:minimum 0',
  ]);
  expect(fresh.map(({ claim, area }) => problemOf(claim, area))).not.toContain(undefined);

  const changes = [
    ['2. Localhost is refused.', '2. Localhost is allowed.'],
    ['| 429 | rate', '| 429 | the rate'],
    ['## Versioning', '## Versioning\n\n- Paths are never removed.'],
    ['| Free | `basic` |', '| Free | `full` |'],
    ['| Field | Type | Constraints |', '| Field | Kind | Constraints |'],
  ] as const;
  for (const [before, after] of changes) {
    const changed = read(specification.replace(before, after));
    const ids = changed.facts.map(({ id }) => id);
    expect([after, changed.unread.length > 0 || ids.some((id) => !facts.some((fact) => fact.id === id))]).toEqual([
      after,
      true,
    ]);
  }
});
