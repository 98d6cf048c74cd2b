/**
 * The page of an invitation's link as HTML: enrol a passkey, or what became of the link. src/browser/invited.js carries
 * out the buttons, and alone can say that this device enrolled: whoever else holds the link sees that it was used.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import { pageOf } from '../../../http/pages.ts';
import { instantInWords, sheet } from '../../../http/sheet.ts';
import { type EnrolmentWire, enrolmentOut } from './invitation.contract.ts';

export const enrolmentPage = pageOf(enrolmentOut, {
  show: (enrolment) => {
    const [title, content] =
      enrolment.passkey === null ? inviting(enrolment) : used(enrolment.passkey, enrolment.origin);
    return framed(title, content, enrolment.businessName);
  },
  refuse: ({ status, message }) => {
    const [title, advice] = refusals[status] ?? ['Something went wrong', 'Load the page again in a moment.'];
    return framed(title, html`<h1>${title}</h1><p>${advice}</p><p class="fine">${status}: ${message}</p>`, null);
  },
});

const framed = (title: string, content: Html, businessName: string | null): Html =>
  sheet({ title, content, script: 'invited.js', businessName, isForHomeScreen: true });

const refusals: Readonly<Record<number, readonly [string, string]>> = {
  404: ['No such link', 'This link belongs to no invitation. Check that you opened the complete link.'],
  429: ['Too many requests', 'Wait a minute, then load the page again.'],
  503: ['Temporarily unavailable', 'Nothing is lost. Load the page again in a few seconds.'],
};

type Sheet = readonly [title: string, content: Html];

function inviting({ name, refusal, expiresAt, origin }: EnrolmentWire): Sheet {
  if (refusal !== null) {
    const title = 'This link cannot be used';
    return [title, html`<p class="sign" aria-hidden="true">–</p><h1>${title}</h1><p>${sentence(refusal)}</p>`];
  }
  return [
    'Enrol a passkey',
    html`
      <div id="invited">
      <h1><span class="who"><bdi>${name}</bdi>,</span> enrol a passkey</h1>
      <p>With a passkey of this device you approve what software agents ask to pay. You unlock it with your finger, your face or the PIN of the device.</p>
      <dl>
        <div><dt>Enrolled for</dt><dd><bdi>${name}</bdi>; approvals will show this name</dd></div>
        <div><dt>This link is good for</dt><dd>one passkey, until ${instantInWords(expiresAt)}</dd></div>
      </dl>
      <button id="enrol" class="main" type="button" data-origin="${origin}">Enrol a passkey</button>
      <p id="progress" class="fine" role="status"></p>
      <p id="problem" class="problem" role="alert"></p>
      <p class="fine">If this is not you, close the page and tell the person who sent you the link.</p>
      <noscript><p class="problem">This page needs JavaScript to reach your passkey.</p></noscript>
      </div>
      <div id="enrolled" hidden>
        <p class="sign good" aria-hidden="true">✓</p>
        <h1 tabindex="-1">Passkey enrolled</h1>
        <p><bdi>${name}</bdi> approves with the passkey of this device from <span id="from"></span> on. Open the link of a request and press <b>Approve with a passkey</b>.</p>
        ${offered(origin)}
      </div>
    `,
  ];
}

/** Never who enrolled it: the link may have reached a stranger, and then the invited person must notice. */
function used({ enrolledAt, isRemoved }: NonNullable<EnrolmentWire['passkey']>, origin: string): Sheet {
  const title = 'This link was used';
  const removed = isRemoved ? html` It was removed since, and approves nothing any more.` : undefined;
  return [
    title,
    html`
      <p class="sign" aria-hidden="true">–</p>
      <h1>${title}</h1>
      <p>A passkey was enrolled with this link on ${instantInWords(enrolledAt)}.${removed} If that was not you, tell the person who sent you the link at once.</p>
      ${isRemoved ? undefined : offered(origin)}
    `,
  ];
}

/** The server takes a device only with an assertion of the passkey that was enrolled with this link. */
const offered = (origin: string): Html => html`
  <div id="home-screen" class="note" hidden>
    <p>On an iPhone or iPad, this page can notify you once it is on your home screen:</p>
    <ol>
      <li>Press <b>Share</b> in your browser.</li>
      <li>Choose <b>Add to Home Screen</b>.</li>
      <li>Open <b>Bursar</b> from the home screen and press <b>Notify me on this device</b>.</li>
    </ol>
    <p class="fine">This needs iOS 16.4 or later.</p>
  </div>
  <div id="notify-offer" class="note">
    <p>This device can tell you when an agent asks, and show you the request.</p>
    <button id="notify" class="main" type="button" data-origin="${origin}">Notify me on this device</button>
  </div>
  <p id="notify-progress" class="fine" role="status"></p>
  <p id="notify-problem" class="problem" role="alert"></p>
`;

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
