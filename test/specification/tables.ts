/** Facts out of the specification's tables. A table with other columns than these is an error. @module */
import { areaOf, areaServing, areasNamed, general } from './areas.ts';
import type { Claim, Fact } from './facts.ts';
import type { Block } from './markdown.ts';

type Row = Extract<Block, { kind: 'row' }>;

const said: Claim = { kind: 'said' };
const fact = (id: string, area: string, claim: Claim = said): Fact => ({ id, area, claim });
const isSilent = (cell: string): boolean => /^(body )?not shown$/.test(cell);

export function rowFacts({ section, columns, cells }: Row): Fact[] {
  const read = tables[`${section} | ${columns.join(' | ')}`];
  if (read === undefined) throw new Error(`a table that is not known: ${section} | ${columns.join(' | ')}`);
  return read((column) => {
    const cell = cells[column];
    if (cell === undefined) throw new Error(`no column ${column}`);
    return cell;
  }, section);
}

type Read = (cell: (column: string) => string, section: string) => Fact[];

const tables: Readonly<Record<string, Read>> = {
  'What the service does | Area | Purpose': (cell) => {
    const purpose = cell('Purpose');
    const aliases = [...purpose.matchAll(/(?:alias |also )`(\/[\w-]+)`/g)].map(([, path]) => path ?? '');
    const areas = areasNamed(cell('Area'));
    const parts = cell('Area') === 'Checkout' ? / and / : '; ';
    const purposes = purpose.replace(/ \((alias|also) [^)]*\)$/, '').split(parts);
    return areas.flatMap((area, index) => [
      fact(`area:${area}`, area, { kind: 'area' }),
      ...(purposes.length === areas.length ? purposes.slice(index, index + 1) : purposes)
        .flatMap(
          (text) =>
            /^[^:]*lifecycle[^:]*: (.+)$|^spending [^:]*: (.+)$/.exec(text)?.slice(1).join('').split(', ') ?? [text],
        )
        .map((text) => fact(`does:${area}:${text}`, area)),
      ...aliases.map((path) => fact(`alias:${path}`, area, { kind: 'alias', path })),
    ]);
  },
  'Resources and their fields > Policy (spending policy template) | Field | Type | Constraints': (cell) => {
    const constraints = cell('Constraints')
      .split(/, (?!`)/)
      .filter((text) => text !== '');
    const shape = { schema: 'PolicyCreateRequest', name: cell('Field'), ...typeOf(cell('Type')) };
    const id = `field:PolicyCreateRequest.${shape.name}`;
    return [
      fact(id, 'Policies', { kind: 'field', shape }),
      ...constraints.map((text) => {
        const constraint = text.replaceAll('`', '');
        return fact(`${id}:${constraint}`, 'Policies', { kind: 'field', shape: { ...shape, constraint } });
      }),
    ];
  },
  'Resources and their fields > Policy (spending policy template) | Field | Type': (cell) =>
    cell('Field')
      .split(', ')
      .map((name) => {
        const shape = { schema: 'Policy', name, ...typeOf(cell('Type')) };
        return fact(`field:Policy.${name}`, 'Policies', { kind: 'field', shape });
      }),
  'Resources and their fields > Other resource shapes | Resource | Fields': (cell) => resourceFacts(cell),
  'States and transitions | Subject | Named states or moves': (cell) =>
    cell('Named states or moves')
      .split(/, |; | and /)
      .map((text) => text.replaceAll('`', '').replace(/ are reserved$| \(reserved\)$/, ''))
      .map((state) => {
        const subject = cell('Subject');
        const area = subject === 'Transaction' && state === 'refunded' ? 'Refunds' : areaOf(subject);
        return fact(`state:${subject.replace(/ \(.*/, '')}:${state}`, area);
      }),
  'States and transitions | State | Trigger | Condition | Next state | Other effects': (cell) => {
    const trigger = cell('Trigger').replaceAll('`', '');
    const area = areaServing(trigger.split(' ')[1] ?? '');
    return [
      fact(`transition:${trigger}:${cell('Condition')}:${cell('Next state')}`, area),
      fact(`transition:${trigger}:${cell('Other effects')}`, area),
    ];
  },
  'Endpoints > Read operations | Path | Purpose | Parameters | Response': (cell) => {
    const path = cell('Path').replaceAll('`', '');
    const area = areaServing(path);
    return [
      fact(`path:GET ${path}`, area, { kind: 'path', method: 'get', path }),
      fact(`does:GET ${path}:${cell('Purpose')}`, area),
      ...[...cell('Parameters').matchAll(/path `(\w+)`/g)].map(([, name]) =>
        fact(`parameter:GET ${path}:${name}`, area),
      ),
      ...cell('Response')
        .split(/; | with /)
        .filter((text) => !isSilent(text) && !/not shown$/.test(text) && text !== 'error body `{error}`')
        .map((text) => fact(`answers:GET ${path}:${text}`, area)),
    ];
  },
  'Authentication | Kind | Prefix | Use': (cell) => [
    ...[...cell('Prefix').matchAll(/`(\w+)`/g)].map(([, prefix]) =>
      // Tokens of delegations come with delegations.
      fact(`token-prefix:${prefix}`, prefix === 'at_dlg_' ? 'Delegations' : general),
    ),
    ...cell('Use')
      .split('; ')
      .map((use) => fact(`token-use:${cell('Kind')}:${use.replaceAll('`', '')}`, general)),
  ],
  'Events > Event catalog | Category | Event names': (cell) =>
    cell('Event names')
      .split(', ')
      .map((text) => {
        const [, name] = /^`([a-z_.]+)`( \(reserved\))?$/.exec(text) ?? [];
        if (name === undefined) throw new Error(`no event name: ${text}`);
        // What is reserved there is not here: docs/decisions.md says which three names nothing can cause.
        return fact(`event:${name}`, areaOf(cell('Category'), name), { kind: 'event', name });
      }),
  'Events > Delivery format | Header | Value': (cell) => [
    fact(`delivery-header:${cell('Header').replaceAll('`', '')}:${cell('Value').replaceAll('`', '')}`, 'Webhooks'),
  ],
  'Events > Delivery and retry | Tier | Max attempts | Backoff between attempts | Dead-letter': (cell) => {
    const tier = `tier:${cell('Tier').replaceAll('`', '')}`;
    return [
      fact(`${tier}:attempts ${cell('Max attempts')}`, 'Webhooks'),
      fact(`${tier}:backoff ${cell('Backoff between attempts').replaceAll('`', '').replaceAll(', ', ' ')}`, 'Webhooks'),
      fact(`${tier}:dead-letter ${cell('Dead-letter')}`, 'Webhooks'),
    ];
  },
  'Events > Delivery and retry | Plan | Webhook tier': (cell) => [
    fact(`plan:${cell('Plan')}:${cell('Webhook tier').replaceAll('`', '')}`, 'Webhooks'),
  ],
  'Errors | Status | Meaning': (cell) => [
    fact(`status:${cell('Status')}:${cell('Meaning').split(';')[0]}`, cell('Status') === '403' ? 'Passkeys' : general),
    ...[...cell('Meaning').matchAll(/`([\w*-]+)`/g)].map(([, header]) =>
      fact(`header:${header?.replace('-*', '')}`, general),
    ),
  ],
  'Limits | Limit | Value': (cell) => {
    const limit = cell('Limit');
    if (cell('Value') === 'see Resources') return [];
    const isOfWebhooks = limit.startsWith('Webhook');
    return [
      fact(
        `limit:${limit}:${cell('Value').replaceAll('`', '').replaceAll(', ', ' ')}`,
        isOfWebhooks ? 'Webhooks' : general,
      ),
    ];
  },
};

/** `number or null`, `array of string`, `string, date-time`. */
function typeOf(cell: string): { type: string; nullable: boolean } {
  if (!/^(string|number|integer|boolean|array of string)( or null|, date-time)?$/.test(cell)) {
    throw new Error(`a type that is not known: ${cell}`);
  }
  return { type: cell.replace(/ or null$/, ''), nullable: cell.endsWith(' or null') };
}

const resourceSchemas: Readonly<Record<string, string>> = {
  'Error body': 'ApiError',
  'Checkout confirm result': 'ConfirmedCheckout',
  'Webhook subscription (creation response)': 'NewWebhook',
};

function resourceFacts(cell: (column: string) => string): Fact[] {
  const [resource, fields] = [cell('Resource'), cell('Fields')];
  if (fields === 'see Events') return [];
  const area = resource === 'Error body' ? general : areaOf(resource);
  const schema = resourceSchemas[resource] ?? resource;
  return [...fields.matchAll(/`(\w+)`/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'completed')
    .map((name) => {
      const claim: Claim = resource in resourceSchemas ? { kind: 'field', shape: { schema, name } } : said;
      return fact(`field:${resource.replace(/ \(.*/, '')}.${name}`, area, claim);
    });
}
