/**
 * The approver's page as HTML: what is asked and the two ways to answer, or what became of it. What the agent wrote is
 * shown as its words. Shapes only; src/browser/approve.js does what a button says.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import { pageOf } from '../../../http/pages.ts';
import { type ApprovalWire, approvalOut } from './approval.contract.ts';

export const approvalPage = pageOf(approvalOut, {
  show: (approval) => {
    const { intentId, request, passkey, outcome, status, businessTime } = approval;
    const footer = businessTime === null ? undefined : html`<p class="fine">${businessTime}</p>`;
    const [title, content] =
      request !== null && passkey !== null ? waiting(intentId, request, passkey) : ended(intentId, status, outcome);
    return sheet(title, html`${content}${footer}`);
  },
  refuse: ({ status, message }) => {
    const [title, advice] = refusals[status] ?? ['This did not work', 'Load the page again in a moment.'];
    return sheet(title, html`<h1>${title}</h1><p>${advice}</p><p class="fine">${status}: ${message}</p>`);
  },
});

const refusals: Readonly<Record<number, readonly [string, string]>> = {
  404: ['No such link', 'This link belongs to no request. Check that you opened the whole of it.'],
  429: ['Too many tries', 'Wait a minute, then load the page again.'],
  503: ['Not reachable just now', 'Nothing is lost. Load the page again in a few seconds.'],
};

type Request = NonNullable<ApprovalWire['request']>;
type Passkey = NonNullable<ApprovalWire['passkey']>;

type Sheet = readonly [title: string, content: Html];

const waiting = (intentId: string, request: Request, passkey: Passkey): Sheet => [
  'Approve a payment',
  html`
      <h1>
        <span class="who"><bdi>${request.agentName}</bdi> asks to spend</span>
        <span class="amount">${request.amountEuros.toFixed(2)} EUR</span>
        ${most(request)}
        ${request.cadence === null ? undefined : html`<span class="who">${again[request.cadence]}, until ${instant(request.decideBy)} at the latest</span>`}
      </h1>
      <dl>
        ${fact('In its own words', html`<bdi class="quoted">${request.purpose}</bdi>`)}
        ${fact('Where', request.merchant === null ? html`any merchant: it named none` : html`<bdi>${request.merchant}</bdi>`)}
        ${fact('Why you are asked', html`<bdi>${sentence(request.rule ?? 'its rules want a person')}</bdi>`)}
        ${fact('Decide by', instant(request.decideBy))}
      </dl>
      ${approveOffer(request, passkey)}
      <p id="progress" class="fine" role="status"></p>
      <p id="problem" class="problem" role="alert"></p>
      ${passkey.state === 'ready' ? html`<details class="deny"><summary>Deny</summary>${denyForm}</details>` : html`<div class="deny">${denyForm}</div>`}
      <noscript><p class="problem">This page needs JavaScript to approve or deny.</p></noscript>
      ${reference(intentId)}
    `,
];

function approveOffer({ demandsPasskey }: Request, { state, blockedUntil, origin }: Passkey): Html {
  if (state === 'ready') {
    return html`<button id="approve" class="main" type="button" data-origin="${origin}">Approve with a passkey</button>`;
  }
  const key = demandsPasskey
    ? 'The rules of this agent take no other approval.'
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

const denyForm = html`
        <form id="deny">
          <label for="reason">Reason <span class="fine">(optional; the agent can read it)</span></label>
          <textarea id="reason" name="reason" rows="2" maxlength="500" autocomplete="off"></textarea>
          <button class="danger" type="submit">Deny the payment</button>
        </form>`;

/** The agent may have chosen how much more than the amount it takes. */
const most = ({ amountEuros, maxChargeEuros, cadence }: Request): Html | undefined =>
  maxChargeEuros > amountEuros
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

const reference = (intentId: string): Html => html`<p class="fine">Reference <code>${intentId}</code></p>`;

const months = 'January February March April May June July August September October November December'.split(' ');

/** UTC until the script says it in the reader's own time. */
function instant(iso: string): Html {
  const at = new Date(iso);
  const words = `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${iso.slice(11, 16)} UTC`;
  return html`<time datetime="${iso}">${words}</time>`;
}

type Outcome = ApprovalWire['outcome'];

function ended(intentId: string, status: ApprovalWire['status'], outcome: Outcome): Sheet {
  const wasApproved = outcome?.approvedWith != null;
  const { title, meaning, tone } = endings[status](wasApproved);
  const how = status === 'approved' && outcome?.approvedWith ? ` ${means[outcome.approvedWith]}` : '';
  const when = outcome === null ? undefined : html` on ${instant(outcome.at)}`;
  return [
    title,
    html`
      <p class="sign ${tone}" aria-hidden="true">${signs[tone]}</p>
      <h1>${title}</h1>
      <p>${verbs[status]}${how}${when}. ${meaning}</p>
      <p class="fine">This link has served its purpose and tells nothing more.</p>
      ${reference(intentId)}
    `,
  ];
}

type Tone = 'good' | 'bad' | 'calm';
const signs: Readonly<Record<Tone, string>> = { good: '✓', bad: '×', calm: '–' };

type Ending = { readonly title: string; readonly meaning: string; readonly tone: Tone };

const endings: Readonly<Record<ApprovalWire['status'], (wasApproved: boolean) => Ending>> = {
  pending_approval: () => ({ title: 'Waiting', meaning: 'Load the page again.', tone: 'calm' }),
  approved: () => ({ title: 'Approved', meaning: 'The agent may now pay.', tone: 'good' }),
  completed: () => ({ title: 'Approved and paid', meaning: 'There is nothing left to decide.', tone: 'good' }),
  denied: () => ({ title: 'Denied', meaning: 'Nothing is paid.', tone: 'bad' }),
  failed: () => ({ title: 'Not paid', meaning: 'It was approved, but the payment was declined.', tone: 'bad' }),
  cancelled: () => ({ title: 'Cancelled', meaning: 'The request was withdrawn. Nothing is paid.', tone: 'calm' }),
  expired: (wasApproved) => ({
    title: 'Expired',
    meaning: wasApproved ? 'It was approved, but not paid in time.' : 'Nobody decided in time. Nothing is paid.',
    tone: 'calm',
  }),
};

const verbs: Readonly<Record<ApprovalWire['status'], string>> = {
  pending_approval: 'Waiting',
  approved: 'Approved',
  completed: 'Paid',
  denied: 'Denied',
  failed: 'Declined',
  cancelled: 'Cancelled',
  expired: 'Expired',
};

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
