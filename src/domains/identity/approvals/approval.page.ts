/**
 * The approver's page as HTML: the request and the two decisions, or the outcome. Texts of the agent are marked as
 * quotations. Shapes only; src/browser/approve.js carries out the buttons.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import { pageOf } from '../../../http/pages.ts';
import { type ApprovalWire, approvalOut } from './approval.contract.ts';

export const approvalPage = pageOf(approvalOut, {
  show: ({ id, request, passkey, outcome, status, businessTime }) => {
    const footer = businessTime === null ? undefined : html`<p class="fine">${businessTime}</p>`;
    const [title, content] =
      request !== null && passkey !== null ? waiting(id, request, passkey) : ended(id, outcome, status);
    return sheet(title, html`${content}${footer}`);
  },
  refuse: ({ status, message }) => {
    const [title, advice] = refusals[status] ?? ['Something went wrong', 'Load the page again in a moment.'];
    return sheet(title, html`<h1>${title}</h1><p>${advice}</p><p class="fine">${status}: ${message}</p>`);
  },
});

const refusals: Readonly<Record<number, readonly [string, string]>> = {
  404: ['No such link', 'This link belongs to no request. Check that you opened the complete link.'],
  429: ['Too many requests', 'Wait a minute, then load the page again.'],
  503: ['Temporarily unavailable', 'Nothing is lost. Load the page again in a few seconds.'],
};

type Request = NonNullable<ApprovalWire['request']>;
type Passkey = NonNullable<ApprovalWire['passkey']>;

type Sheet = readonly [title: string, content: Html];

const waiting = (id: string, request: Request, passkey: Passkey): Sheet => [
  request.title,
  html`
      <h1>
        <span class="who"><bdi>${request.agentName}</bdi> ${request.asks}</span>
        ${request.amountEuros === null ? undefined : html`<span class="amount">${request.amountEuros.toFixed(2)} EUR</span>`}
        ${most(request)}
        ${request.cadence === null ? undefined : html`<span class="who">${again[request.cadence]}, until ${instant(request.decideBy)} at the latest</span>`}
      </h1>
      <dl>
        ${request.purpose === null ? undefined : fact('In its own words', html`<bdi class="quoted">${request.purpose}</bdi>`)}
        ${request.facts.map(({ label, text, isQuoted }) => fact(label, isQuoted ? html`<bdi>${text}</bdi>` : html`${text}`))}
        ${fact('Why you are asked', html`<bdi>${sentence(request.rule ?? 'its rules require a person')}</bdi>`)}
        ${fact('Decide by', instant(request.decideBy))}
      </dl>
      ${passkey.state === 'ready' ? changeFields(request.changes) : undefined}
      ${approveOffer(request, passkey)}
      <p id="progress" class="fine" role="status"></p>
      <p id="problem" class="problem" role="alert"></p>
      ${passkey.state === 'ready' ? html`<details class="deny"><summary>Deny</summary>${denyForm(request.denies)}</details>` : html`<div class="deny">${denyForm(request.denies)}</div>`}
      <noscript><p class="problem">This page needs JavaScript to approve or deny.</p></noscript>
      ${reference(id)}
    `,
];

/** An empty field and an unchanged one leave the amount as requested. */
const changeFields = (changes: Request['changes']): Html | undefined =>
  changes.length === 0
    ? undefined
    : html`
      <fieldset id="changes">
        <legend>You may change the amounts <span class="fine">(EUR)</span></legend>
        ${changes.map(
          ({ name, label, requestedEuros }) => html`
        <label>${label}
          <input name="${name}" type="number" inputmode="decimal" min="0" max="999999999.99" step="0.01" autocomplete="off"
            value="${requestedEuros === null ? '' : requestedEuros.toFixed(2)}" placeholder="unchanged">
        </label>`,
        )}
      </fieldset>`;

function approveOffer({ demandsPasskey }: Request, { state, blockedUntil, origin }: Passkey): Html {
  if (state === 'ready') {
    return html`<button id="approve" class="main" type="button" data-origin="${origin}">Approve with a passkey</button>`;
  }
  const key = demandsPasskey
    ? 'The rules of this agent accept no other approval.'
    : 'The owner’s API key can approve it too.';
  const until =
    blockedUntil === null
      ? undefined
      : html`<p>The last passkey of this owner was removed. A new one cannot approve before ${instant(blockedUntil)}; until then this page can only deny.</p>`;
  const enrol =
    state === 'blocked'
      ? undefined
      : html`<p>This owner has no passkey, so this page can only deny. <a href="${origin}/docs/passkeys">Enrol a passkey</a> with the owner’s API key, then load this page again.</p>`;
  return html`<div class="note">${enrol}${until}<p>${key}</p></div>`;
}

const denyForm = (label: string): Html => html`
        <form id="deny">
          <label for="reason">Reason <span class="fine">(optional; the agent can read it)</span></label>
          <textarea id="reason" name="reason" rows="2" maxlength="500" autocomplete="off"></textarea>
          <button class="danger" type="submit">${label}</button>
        </form>`;

/** Shown where a charge may take more than the amount. */
const most = ({ amountEuros, maxChargeEuros, cadence }: Request): Html | undefined =>
  amountEuros !== null && maxChargeEuros !== null && maxChargeEuros > amountEuros
    ? html`<span class="most">up to ${maxChargeEuros.toFixed(2)} EUR${cadence === null ? '' : ' each'}</span>`
    : undefined;

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

const again: Readonly<Record<NonNullable<Request['cadence']>, string>> = {
  daily: 'every day',
  weekly: 'every week',
  monthly: 'every month',
  yearly: 'every year',
};

const fact = (term: string, meaning: Html): Html => html`<div><dt>${term}</dt><dd>${meaning}</dd></div>`;

const reference = (id: string): Html => html`<p class="fine">Reference <code>${id}</code></p>`;

const months = 'January February March April May June July August September October November December'.split(' ');

/** In UTC; the page's script replaces it by the reader's local time. */
function instant(iso: string): Html {
  const at = new Date(iso);
  const words = `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${iso.slice(11, 16)} UTC`;
  return html`<time datetime="${iso}">${words}</time>`;
}

type Outcome = ApprovalWire['outcome'];

function ended(id: string, outcome: Outcome, status: string): Sheet {
  const { title, verb, meaning, tone } = outcome ?? loadAgain;
  const how = status === 'approved' && outcome?.approvedWith ? ` ${means[outcome.approvedWith]}` : '';
  const when = outcome === null ? undefined : html` on ${instant(outcome.at)}`;
  return [
    title,
    html`
      <p class="sign ${tone}" aria-hidden="true">${signs[tone]}</p>
      <h1>${title}</h1>
      <p>${verb}${how}${when}. ${meaning}</p>
      <p class="fine">The request is closed. This link shows only the outcome.</p>
      ${reference(id)}
    `,
  ];
}

const loadAgain = { title: 'Waiting', verb: 'Waiting', meaning: 'Load the page again.', tone: 'calm' } as const;

const signs: Readonly<Record<NonNullable<Outcome>['tone'], string>> = { good: '✓', bad: '×', calm: '–' };

const means: Readonly<Record<NonNullable<NonNullable<Outcome>['approvedWith']>, string>> = {
  passkey: 'with a passkey',
  key: 'with the owner’s API key',
  signal: 'by a Temporal signal',
  policy: 'by the agent’s rules',
  mandate: 'by a standing mandate',
};

const sheet = (title: string, content: Html): Html => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Bursar</title>
    <link rel="icon" href="/docs/pages/icon.svg">
    <link rel="stylesheet" href="/docs/pages/page.css">
    <script type="module" src="/docs/pages/approve.js"></script>
  </head>
  <body>
    <main>
      <p class="brand">Bursar</p>
      ${content}
    </main>
  </body>
</html>
`;
