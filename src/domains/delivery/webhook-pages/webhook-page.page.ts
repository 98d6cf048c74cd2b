/**
 * The page of a subscription as HTML: how its receiver is doing, what waits, and its dead letters. Shapes only;
 * src/browser/webhook.js carries out the buttons and keeps the page current.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import { pageOf } from '../../../http/pages.ts';
import { instantInWords, sheet } from '../../../http/sheet.ts';
import { plotOf } from './attempt.plot.ts';
import { type WebhookPageWire, webhookPageOut } from './webhook-page.contract.ts';
import { ageInWords, counted, inThousands, tookInWords } from './webhook-page.words.ts';

export const webhookPageSheet = pageOf(webhookPageOut, {
  show: (page) =>
    framed(
      `Webhook to ${page.host}`,
      html`
      <div id="page">
        ${headOf(page)}
        <div class="columns">
          <section aria-labelledby="health"><h2 id="health">Attempts</h2>${healthOf(page)}</section>
          <div>
            <section aria-labelledby="queue"><h2 id="queue">Waiting</h2>${queueOf(page)}</section>
            <section aria-labelledby="try"><h2 id="try">Test</h2>${testOf(page)}</section>
          </div>
        </div>
        <section aria-labelledby="letters"><h2 id="letters">Dead letters</h2>${lettersOf(page)}</section>
        ${factsOf(page)}
        <p class="fine">Whoever has this link may use the buttons. It is good until ${instantInWords(page.linkExpiresAt)}, or until the owner makes another one.</p>
        ${page.businessTime === null ? undefined : html`<p class="fine">${page.businessTime}</p>`}
      </div>
      <div class="said">
        <p id="progress" class="fine" role="status"></p>
        <p id="problem" class="problem" role="alert"></p>
      </div>
      <noscript><p class="problem">The buttons of this page need JavaScript. Load the page again to see what is new.</p></noscript>`,
      page.businessName,
    ),
  refuse: ({ status, message }) => {
    const [title, advice] = refusals[status] ?? ['Something went wrong', 'Load the page again in a moment.'];
    return framed(title, html`<h1>${title}</h1><p>${advice}</p><p class="fine">${status}: ${message}</p>`, null);
  },
});

const refusals: Readonly<Record<number, readonly [string, string]>> = {
  404: [
    'This link is not good',
    'Its time is over, another link has taken its place, or it is incomplete. Ask the owner of the subscription for a new one.',
  ],
  429: ['Too many requests', 'Wait a minute, then load the page again.'],
  503: ['Temporarily unavailable', 'Nothing is lost. Load the page again in a few seconds.'],
};

const framed = (title: string, content: Html, businessName: string | null): Html =>
  sheet({ title, content, script: 'webhook.js', style: 'webhook.css', businessName });

function headOf(page: WebhookPageWire): Html {
  const [tone, state, meaning] = stateOf(page);
  return html`
    <h1><span class="who">Webhook to</span> <bdi>${page.host}</bdi></h1>
    <p class="state ${tone}"><b>${state}</b> ${meaning}</p>`;
}

const factsOf = (page: WebhookPageWire): Html => html`
    <dl>
      <div><dt>Subscription</dt><dd><code>${page.webhookId}</code></dd></div>
      <div><dt>Made</dt><dd>${instantInWords(page.createdAt)}</dd></div>
      <div><dt>Plan</dt><dd>${page.plan}: ${counted(page.maxAttempts, 'attempt', 'attempts')} for each delivery${page.ordered ? ', in strict order' : ''}</dd></div>
    </dl>`;

type State = readonly [tone: 'good' | 'bad' | 'calm', state: string, meaning: Html];

function stateOf({ status, disabledReason, failing, whole }: WebhookPageWire): State {
  if (status === 'disabled') {
    const meaning = html`because ${disabledReason ?? 'its receiver failed'}. Nothing is sent until its owner makes it active again.`;
    return ['bad', 'Disabled', meaning];
  }
  if (status === 'paused') return ['calm', 'Paused', html`by its owner. Nothing is sent; what waits keeps waiting.`];
  if (failing !== null) {
    const { failures, since, lastStatus, isProbed } = failing;
    const probed = isProbed ? html` It gets one request at a time until it answers.` : undefined;
    return [
      'bad',
      'Failing',
      html`since ${instantInWords(since)}: ${counted(failures, 'failure', 'failures')} in a row, the last one ${statusInWords(lastStatus)}.${probed}`,
    ];
  }
  return [
    'good',
    'Active.',
    whole.attempts === 0 ? html`Nothing was sent in this time.` : html`The last attempt succeeded.`,
  ];
}

const statusInWords = (status: number | null): string => (status === null ? 'without an answer' : `HTTP ${status}`);

const healthOf = (page: WebhookPageWire): Html => html`
  <nav class="periods" aria-label="Period">
    ${periodLink('24h', 'Last 24 hours', page)}
    ${periodLink('7d', 'Last 7 days', page)}
  </nav>
  <dl class="figures">
    ${figure('Attempts', inThousands(page.whole.attempts))}
    ${figure('Failed', failedInWords(page.whole))}
    ${figure('Mean answer', page.whole.meanMs === null ? '–' : tookInWords(page.whole.meanMs))}
    ${figure('Slowest answer', page.whole.slowestMs === null ? '–' : tookInWords(page.whole.slowestMs))}
  </dl>
  ${plotOf(page)}`;

const periodLink = (period: WebhookPageWire['period'], words: string, page: WebhookPageWire): Html =>
  period === page.period
    ? html`<a href="?period=${period}" aria-current="page">${words}</a>`
    : html`<a href="?period=${period}">${words}</a>`;

const figure = (term: string, value: string): Html => html`<div><dt>${term}</dt><dd>${value}</dd></div>`;

function failedInWords({ attempts, failures }: WebhookPageWire['whole']): string {
  if (failures === 0) return '0';
  const percent = (100 * failures) / attempts;
  return `${inThousands(failures)} (${percent < 1 ? '<1' : Math.round(percent)} %)`;
}

function queueOf(page: WebhookPageWire): Html {
  const { queue, status, now } = page;
  const { unsent, retrying, underWay, oldestAt, nextAttemptAt } = queue;
  const waiting = unsent + retrying;
  if (waiting === 0) {
    return html`<p>Nothing waits.${underWay === 0 ? undefined : html` ${counted(underWay, 'attempt is', 'attempts are')} under way.`}</p>`;
  }
  return html`
    <p><b>${counted(waiting, 'delivery waits', 'deliveries wait')}</b>${oldestAt === null ? undefined : html`, the oldest made ${ageInWords(oldestAt, now)}`}.</p>
    <dl>
      ${unsent === 0 ? undefined : figure('For the first attempt', inThousands(unsent))}
      ${unsent === 0 || retrying === 0 ? undefined : figure('For another attempt', inThousands(retrying))}
      ${underWay === 0 ? undefined : figure('Under way', inThousands(underWay))}
      ${nextAttemptAt === null ? undefined : html`<div><dt>Next attempt</dt><dd>${status === 'paused' ? html`once it is active` : instantInWords(nextAttemptAt)}</dd></div>`}
    </dl>
    ${retrying === 0 ? undefined : retryButtons(retrying, page)}`;
}

const retryButtons = (retrying: number, { status, deadLetters }: WebhookPageWire): Html => html`
    ${status === 'active' ? html`<button id="retry" class="main" type="button" data-post="retry" data-doing="Attempting now …" data-done="deliveries are attempted now">Retry now</button>` : undefined}
    <details id="giving-up" class="deny"><summary>Give up …</summary>
      <div class="sure">
        <p>${counted(retrying, 'delivery gets', 'deliveries get')} no further attempt${deadLetters === null ? html`. Only the owner can send the events again` : html` and ${retrying === 1 ? 'becomes a dead letter' : 'become dead letters'}`}.</p>
        <button id="give-up" class="danger" type="button" data-post="give-up" data-doing="Giving up …" data-done="deliveries were given up">Give up ${counted(retrying, 'delivery', 'deliveries')}</button>
      </div>
    </details>`;

const testOf = ({ status }: WebhookPageWire): Html =>
  status === 'active'
    ? html`
    <p>Sends <code>transaction.completed</code> with example data and <code>"test": true</code>.</p>
    <button id="test" class="main" type="button" data-post="test" data-doing="Sending …" data-done="A test event is on its way">Send a test event</button>`
    : html`<p>Nothing can be sent while the subscription is ${status}.</p>`;

function lettersOf({ deadLetters, plan, status, now }: WebhookPageWire): Html {
  if (deadLetters === null) {
    return html`<p>The ${plan} plan has no dead letters: a delivery that used its attempts has failed.</p>`;
  }
  const { letters, hasMore, newest } = deadLetters;
  if (letters === 0) return html`<p>None. Deliveries that used all attempts would stand here.</p>`;
  const mayRedeliver = status === 'active';
  const all = mayRedeliver
    ? html`<button id="redeliver-all" class="main" type="button" data-post="redeliver" data-doing="Queueing …" data-done="deliveries are on their way">Deliver all again</button>`
    : html`<p class="fine">They can be delivered again once the subscription is active.</p>`;
  return html`
    <div class="letters-head"><p><b>${hasMore ? 'More than ' : undefined}${counted(letters, 'delivery', 'deliveries')}</b> used all attempts or ${letters === 1 ? 'was' : 'were'} given up.${letters > newest.length ? html` The newest ${newest.length} are shown.` : undefined}</p>${all}</div>
    <ul class="letters">${newest.map((letter) => letterOf(letter, mayRedeliver, now))}</ul>`;
}

type Letter = NonNullable<WebhookPageWire['deadLetters']>['newest'][number];

const letterOf = (
  { id, event, attempts, createdAt, lastStatus, lostReason }: Letter,
  mayRedeliver: boolean,
  now: string,
): Html => html`
      <li>
        <div>
          <p class="event"><code>${event}</code> <span class="fine">${ageInWords(createdAt, now)}</span></p>
          <p class="fine">${counted(attempts, 'attempt', 'attempts')}, the last one ${statusInWords(lastStatus)}${lostReason === null ? '' : `; ${lostReason}`}</p>
          <p class="fine"><code>${id}</code></p>
        </div>
        ${mayRedeliver ? html`<button class="small" type="button" data-post="redeliver" data-id="${id}" data-doing="Queueing …" data-done="delivery is on its way" aria-label="Deliver ${event} ${id} again">Deliver again</button>` : undefined}
      </li>`;
