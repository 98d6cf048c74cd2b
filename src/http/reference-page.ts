/**
 * The page at `/docs`: a first purchase in six commands, then each operation with its fields and examples. It is made
 * from the OpenAPI document, needs no script, and is readable on a phone, in light and in dark.
 * @module
 */
import { type Html, html } from './html.ts';
import { type Json, lastPart, type Schemas } from './openapi-schemas.ts';

type Content = {
  description?: string;
  $ref?: string;
  content?: { 'application/json'?: { schema: Json; example?: Json } };
};
type Parameter = { name: string; in: string; required: boolean; description: string; example: unknown };
type Described = {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
type Document = {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Schemas; responses: Record<string, Content> };
};

/** `note`: one line above everything, such as the business time of a sandbox. */
export function referencePage(openapi: object): (note: string | undefined) => string {
  const document = openapi as Document;
  const areas = document.tags.map((tag) => areaSection(document, tag));
  const links = document.tags.map(({ name }) => html`<li><a href="#${anchor(name)}">${name}</a></li>`);
  return (note) =>
    `<!doctype html>\n${
      html`<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bursar API</title>
    <link rel="stylesheet" href="/docs/pages/reference.css">
    <link rel="icon" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <main>
      <h1>Bursar API</h1>
      ${note === undefined ? undefined : html`<p class="note">${note}</p>`}
      <p>${document.info.description} Version ${document.info.version}.</p>
      <p>Also here: <a href="/docs/guides">guides</a>, <a href="/openapi.json">the OpenAPI document</a>, <a href="/docs/explorer">an explorer that sends
        requests</a>, and <a href="/docs/passkeys">the page that enrols a passkey</a>.</p>
      ${firstPurchase}
      <h2 id="operations">Operations</h2>
      <nav aria-label="Areas"><ul class="areas">${links}</ul></nav>
      ${areas}
    </main>
  </body>
</html>
`.text
    }`;
}

const anchor = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

const step = (title: string, sentence: string, command: string): Html =>
  html`<li><h3>${title}</h3><p>${sentence}</p><pre tabindex="0" aria-label="Command"><code>${command}</code></pre></li>`;

const post = (path: string, key: string, body: string): string =>
  `curl -s "$BURSAR${path}" -H "Authorization: Bearer $${key}" \\\n  -H 'Content-Type: application/json' -d ${body}`;
const field = (name: string): string => ` \\\n  | node -p 'JSON.parse(require("fs").readFileSync(0)).${name}'`;
const kept = (name: string, command: string, of: string): string => `${name}=$(${command}${field(of)})`;

const firstPurchase = html`<h2 id="first-purchase">A first purchase</h2>
      <p>The commands run in a shell against a sandbox, in this order. <code>npm start</code> starts one, and prints the
        path of <code>ready.json</code>. The commands use curl and Node.js.</p>
      <ol class="steps">
        ${[
          step(
            '1. Name the service and the key',
            'An API key belongs to an owner and may do everything for the owner.',
            `BURSAR=$(node -p "require('./.bursar/ready.json').apiUrl")\nSHOP=$(node -p "require('./.bursar/ready.json').sandboxUrl")/shops/sandbox-shop\nKEY=$(node -p "require('./.bursar/ready.json').apiKey")`,
          ),
          step(
            '2. Create an agent and its token',
            'The agent gets a policy and a card. The program that shops gets the token, never the API key.',
            `${kept('AGENT', post('/agents', 'KEY', `'{"name":"Office supplies"}'`), 'id')}\n${kept('TOKEN', post('/agents/$AGENT/tokens', 'KEY', `'{"label":"shopper"}'`), 'token')}`,
          ),
          step(
            '3. Add money',
            'In a sandbox the money is there at once.',
            post('/fund', 'KEY', `'{"amountEuros":100}'`),
          ),
          step(
            '4. Declare an intent',
            'The agent declares what it wants to pay for. Above the limit for automatic approval the intent waits for a person, and 80 euros are above it.',
            kept(
              'INTENT',
              post(
                '/intents',
                'TOKEN',
                `'{"purpose":"Paper for the office printer","expectedAmountEuros":80,"expectedMerchant":"Sandbox Shop"}'`,
              ),
              'id',
            ),
          ),
          step(
            '5. Approve it',
            'The owner approves with the API key; a person approves with a passkey at the address in approvalUrl.',
            post('/intents/$INTENT/approve', 'KEY', `'{}'`),
          ),
          step(
            '6. Pay',
            'The agent pays at a shop. The answer has success true and the id of the transaction.',
            post(
              '/checkout/execute',
              'TOKEN',
              `"{\\"intentId\\":\\"$INTENT\\",\\"targetUrl\\":\\"$SHOP?amountCents=8000\\"}"`,
            ),
          ),
        ]}
      </ol>`;

function areaSection({ paths, components }: Document, tag: { name: string; description: string }): Html {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === tag.name)
      .map(([method, operation]) => operationEntry(`${method.toUpperCase()} ${path}`, operation, components)),
  );
  return html`<section aria-labelledby="${anchor(tag.name)}"><h3 id="${anchor(tag.name)}">${tag.name}</h3><p>${tag.description}</p>
${operations}
</section>`;
}

function operationEntry(route: string, operation: Described, components: Document['components']): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const input = requestBody?.content?.['application/json'];
  const [status, success] = Object.entries(responses).find(([code]) => code < '300') ?? [];
  const output = success?.content?.['application/json'];
  const refusals = Object.entries(responses).filter(([code]) => code >= '400');
  return html`<details id="${operationId}"><summary><code>${route}</code> <span>${summary}</span></summary>
<p>${description}</p>
${parameters.length === 0 ? undefined : table('Parameters', parameters.map(parameterRow))}
${input === undefined ? undefined : html`${fieldsTable('Body', input.schema, components.schemas)}${example('Example of the body', input.example)}`}
<p>Answers ${status}: ${success?.description}</p>
${output === undefined ? undefined : example('Example of the answer', output.example)}
<p>Refusals:</p>
<ul>${refusals.map(([code, { $ref, description: own }]) => html`<li>${code}: ${own ?? components.responses[lastPart($ref ?? '')]?.description}</li>`)}</ul>
</details>`;
}

type Row = { name: string; about: string; description: string };

const parameterRow = ({ name, in: place, required, description }: Parameter): Row => ({
  name,
  about: `${place}${required ? ', required' : ''}`,
  description,
});

function fieldsTable(caption: string, schema: Json, schemas: Schemas): Html | undefined {
  const found = typeof schema.$ref === 'string' ? (schemas[lastPart(schema.$ref)] ?? {}) : schema;
  const required = (found.required ?? []) as readonly string[];
  const rows = Object.entries((found.properties ?? {}) as Record<string, Json>).map(([name, property]) => ({
    name,
    about: required.includes(name) ? 'required' : 'optional',
    description: String(property.description ?? ''),
  }));
  return rows.length === 0 ? undefined : table(caption, rows);
}

const table = (caption: string, rows: readonly Row[]): Html =>
  html`<div class="wide" tabindex="0" role="group" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Meaning</th></tr></thead><tbody>
${rows.map(({ name, about, description }) => html`<tr><th scope="row"><code>${name}</code></th><td>${about}</td><td>${description}</td></tr>`)}
</tbody></table></div>`;

const example = (label: string, value: unknown): Html | undefined =>
  value === undefined
    ? undefined
    : html`<pre tabindex="0" aria-label="${label}"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
