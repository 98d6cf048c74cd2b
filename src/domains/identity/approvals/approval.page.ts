/**
 * The approver's page as HTML: the request and the two decisions, or the outcome with what it was about. Texts of the agent are marked as
 * quotations. Shapes only; src/browser/approve.js carries out the buttons.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import { pageOf } from '../../../http/pages.ts';
import { sheet as anySheet, dayInWords, instantInWords as instant } from '../../../http/sheet.ts';
import { type ApprovalWire, approvalOut } from './approval.contract.ts';

export const approvalPage = pageOf(approvalOut, {
  show: ({ id, businessName, request, decided, passkey, outcome, status, businessTime }) => {
    const footer = businessTime === null ? undefined : html`<p class="fine">${businessTime}</p>`;
    const [title, content] =
      request !== null && passkey !== null ? waiting(id, request, passkey) : ended(id, { outcome, decided, status });
    return sheet(title, html`${content}${footer}`, businessName);
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
        ${repetition(request)}
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
      : html`<p>This owner has no passkey, so this page can only deny. <a href="${origin}/docs/passkeys">Enrol a passkey</a> with the owner’s API key, or ask the owner for an invitation, then load this page again.</p>`;
  return html`<div class="note">${enrol}${until}<p>${key}</p></div>`;
}

const denyForm = (label: string): Html => html`
        <form id="deny">
          <label for="reason">Reason <span class="fine">(optional; the agent can read it)</span></label>
          <textarea id="reason" name="reason" rows="2" maxlength="500" autocomplete="off"></textarea>
          <button class="danger" type="submit">${label}</button>
        </form>`;

type Terms = Pick<Request, 'amountEuros' | 'maxChargeEuros' | 'cadence' | 'lastChargeOn'>;

/** Shown where a charge may take more than the amount, and always where there is more than one charge. */
const most = ({ amountEuros, maxChargeEuros, cadence }: Terms): Html | undefined =>
  amountEuros !== null && maxChargeEuros !== null && (maxChargeEuros > amountEuros || cadence !== null)
    ? html`<span class="most">up to ${maxChargeEuros.toFixed(2)} EUR${cadence === null ? '' : ' each'}</span>`
    : undefined;

function repetition({ cadence, lastChargeOn }: Terms): Html | undefined {
  if (cadence === null) return undefined;
  const last = lastChargeOn === null ? undefined : html`; last charge on ${dayInWords(lastChargeOn)} at the latest`;
  return html`<span class="who">${again[cadence]}${last}</span>`;
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

const again: Readonly<Record<NonNullable<Request['cadence']>, string>> = {
  daily: 'every day',
  weekly: 'every week',
  monthly: 'every month',
  yearly: 'every year',
};

const fact = (term: string, meaning: Html): Html => html`<div><dt>${term}</dt><dd>${meaning}</dd></div>`;

const reference = (id: string): Html => html`<p class="fine">Reference <code>${id}</code></p>`;

type Outcome = ApprovalWire['outcome'];
type Ended = Pick<ApprovalWire, 'outcome' | 'decided' | 'status'>;

function ended(id: string, { outcome, decided, status }: Ended): Sheet {
  const { title, verb, meaning, tone } = outcome ?? loadAgain;
  const how = status === 'approved' && outcome !== null ? approver(outcome) : undefined;
  const when = outcome === null ? undefined : html` on ${instant(outcome.at)}`;
  return [
    title,
    html`
      <p class="sign ${tone}" aria-hidden="true">${signs[tone]}</p>
      <h1>${title}</h1>
      <p>${verb}${how}${when}. ${meaning}</p>
      ${decided === null ? undefined : about(decided)}
      <p class="fine">The request is closed. Nothing more can be decided with this link.</p>
      ${reference(id)}
    `,
  ];
}

function approver({ approvedWith, approverName }: NonNullable<Outcome>): Html | undefined {
  if (approvedWith === null) return undefined;
  return approverName === null
    ? html` ${means[approvedWith]}`
    : html` with the passkey <bdi class="quoted">${approverName}</bdi>`;
}

const about = (decided: NonNullable<Ended['decided']>): Html => html`<dl>
        ${fact('Agent', html`<bdi>${decided.agentName}</bdi>`)}
        ${decided.amountEuros === null ? undefined : fact('Amount', html`${decided.amountEuros.toFixed(2)} EUR ${most(decided)}${repetition(decided)}`)}
        ${decided.facts.map(({ label, text, isQuoted }) => fact(label, isQuoted ? html`<bdi>${text}</bdi>` : html`${text}`))}
      </dl>`;

const loadAgain = { title: 'Waiting', verb: 'Waiting', meaning: 'Load the page again.', tone: 'calm' } as const;

const signs: Readonly<Record<NonNullable<Outcome>['tone'], string>> = { good: '✓', bad: '×', calm: '–' };

const means: Readonly<Record<NonNullable<NonNullable<Outcome>['approvedWith']>, string>> = {
  passkey: 'with a passkey',
  key: 'with the owner’s API key',
  signal: 'by a Temporal signal',
  policy: 'by the agent’s rules',
  mandate: 'by a standing mandate',
};

const sheet = (title: string, content: Html, businessName: string | null = null): Html =>
  anySheet({ title, content, script: 'approve.js', businessName });
