/** The edits that a new area makes in existing files, as functions from text to text. Pure. @module */
import type { AreaNames } from './area-names.ts';

/** Inserts before the last occurrence of `mark` after `from`, and throws when the file no longer has that form. */
function insertBefore(text: string, mark: string, addition: string, from = ''): string {
  const start = text.indexOf(from);
  const index = text.indexOf(mark, start);
  if (start === -1 || index === -1)
    throw new Error(`expected a line ${mark.trim()} after ${from.trim() || 'the start'}`);
  return text.slice(0, index) + addition + text.slice(index);
}

/** src/kernel/ids.ts: the kind of id. */
export const editIds = (text: string, { camel }: AreaNames, prefix: string): string =>
  insertBefore(text, '} as const;', `  ${camel}: '${prefix}',\n`, 'export const idPrefixes');

/** src/events/catalog.ts: the names of the area's events. */
export const editCatalog = (text: string, { camel, snake, words, noun }: AreaNames): string => {
  const category = words.charAt(0).toUpperCase() + words.slice(1);
  const events = ['created', 'cancelled', 'expired'].map((done) => `'${snake}.${done}'`).join(', ');
  const line = `  ...group('${category}', ${camel}Data, [${events}], ours),\n`;
  const shape = `import { ${camel}Data } from './shapes/${noun}.ts';\n`;
  return insertBefore(insertBefore(text, '} as const satisfies Record<string, Entry>;', line), 'import ', shape);
};

/** src/platform/limits.ts: how many records an owner may have. */
export const editLimits = (text: string, { table, words, pascal }: AreaNames): string =>
  insertBefore(
    text,
    '} as const satisfies Record<string, Limit>;',
    `  ${table}: {
    most: 100,
    per: 'owner',
    counted: 'open ${words} records',
    remedy: 'cancel one first',
    operations: ['create${pascal}'],
    rows: \`${table} r where r.owner_id = given.owner and r.status = 'open'\`,
  },
`,
  );

/** src/main/modules/<domain>.ts: the registration. */
export function editModule(text: string, names: AreaNames, position: number): string {
  const { domain, area, noun, camel, pascal, plural, table, words } = names;
  const folder = `../../domains/${domain}/${area}/${noun}`;
  const imports = `import { ${camel}Activities } from '../../../activities/${domain}/${noun}.activities.ts';
import { ${plural}Area } from '${folder}.contract.ts';
import { ${pascal}Row } from '${folder}.entity.ts';
import { ${camel}Workflow } from '${folder}.messages.ts';
import { find${pascal} } from '${folder}.queries.ts';
import { ${camel}Handlers } from '${folder}.routes.ts';
`;
  const registration = `  servedArea('${area}', {
    contract: ${plural}Area,
    position: ${position},
    lookups: ({ database }) => ({ ${camel}: (id) => find${pascal}(database.read(), id) }),
    handlers: ({ database }) => ${camel}Handlers({ database }),
    entities: [${pascal}Row],
    tables: ['${table}'],
    activities: ({ database, clock }) => ${camel}Activities({ database, clock }),
    workflows: [
      {
        type: ${camel}Workflow,
        idPrefix: '${noun}',
        queue: 'main',
        summary: ({ subjectId }) => \`${words.charAt(0).toUpperCase() + words.slice(1)} \${subjectId}: open until it expires or is cancelled\`,
      },
    ],
  }),
`;
  const registered = insertBefore(text, ']);', registration, `defineModule('${domain}'`);
  return insertBefore(registered, 'import ', imports);
}

/** The module of a domain that has no area yet. */
export const emptyModule = (domain: string): string => `/** The areas of ${domain}. @module */
import { defineModule, servedArea } from './module.ts';

export const ${domain} = defineModule('${domain}', [
]);
`;

/** src/main/modules/index.ts: a domain that gets its first area, before the next domain that has one. */
export function editModuleIndex(text: string, domain: string, next: string | undefined): string {
  const [whole = '', head = '', list = ''] = /(export const modules[^=]*= \[)([^\]]*)\]/.exec(text) ?? [];
  const listed = list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  const place = next === undefined ? listed.length : listed.indexOf(next);
  if (whole === '' || place === -1) throw new Error(`src/main/modules/index.ts must list the modules, with ${next}`);
  const extended = text.replace(whole, `${head}${listed.toSpliced(place, 0, domain).join(', ')}]`);
  return insertBefore(extended, 'import ', `import { ${domain} } from './${domain}.ts';\n`);
}
