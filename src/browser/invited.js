/**
 * Carries out the buttons of an invitation's page: makes a passkey on this device, and subscribes it to notifications.
 * The server renders the page, and answers 200 for the passkey that it enrolled alone.
 */
import { inOwnTime, ownTime, Refused, send } from './page.js';
import { askForPasskey, makePasskey, whyNoPasskeys, whyNotMade } from './passkey.js';
import { askToNotify, needsHomeScreen, subscribeDevice, whyNoNotifications } from './push.js';

const link = location.pathname.replace(/\/$/, '');
const enrol = document.getElementById('enrol');
const enrolled = document.getElementById('enrolled');
const problem = document.getElementById('problem');
const progress = document.getElementById('progress');

const notify = document.getElementById('notify');
const notifyProblem = document.getElementById('notify-problem');
const notifyProgress = document.getElementById('notify-progress');

inOwnTime();

const disable = (button, place, why) => {
  if (why === undefined) return;
  button.disabled = true;
  place.textContent = why;
};
if (enrol !== null) disable(enrol, problem, whyNoPasskeys(enrol.dataset.origin));
if (notify !== null && needsHomeScreen()) {
  document.getElementById('home-screen').hidden = false;
  document.getElementById('notify-offer').hidden = true;
} else if (notify !== null) {
  disable(notify, notifyProblem, whyNoPasskeys(notify.dataset.origin) ?? whyNoNotifications());
}

/** A passkey that the server may have enrolled, because the answer was lost: the next press sends it again. */
let made;

notify?.addEventListener('click', async () => {
  notify.disabled = true;
  notifyProblem.textContent = '';
  notifyProgress.textContent = 'Asking for your permission …';
  try {
    await askToNotify();
    const { publicKey } = await send('GET', `${link}/devices/public-key`);
    const device = await subscribeDevice(publicKey);
    notifyProgress.textContent = 'Confirm with your passkey …';
    const { challengeId, options } = await send('POST', `${link}/devices/challenge`, { endpoint: device.endpoint });
    const webauthnAssertion = { challengeId, assertion: await askForPasskey(options) };
    await send('POST', `${link}/devices`, { ...device, publicKey, webauthnAssertion });
    notify.hidden = true;
    notifyProgress.textContent = 'This device gets notifications.';
  } catch (error) {
    notifyProgress.textContent = '';
    notifyProblem.textContent = inWords(error);
    notify.disabled = false;
  }
});

enrol?.addEventListener('click', async () => {
  enrol.disabled = true;
  problem.textContent = '';
  progress.textContent = 'Asking for a new passkey …';
  try {
    made ??= await makeOne();
    show(await handIn(made));
  } catch (error) {
    if (error instanceof Refused && error.status < 500 && error.status !== 429) made = undefined;
    if (made === undefined && (await isClosed())) return location.reload();
    progress.textContent = '';
    problem.textContent = inWords(error);
    enrol.disabled = false;
  }
});

async function makeOne() {
  const { challengeId, options } = await send('POST', `${link}/options`, {});
  return { challengeId, attestation: await makePasskey(options) };
}

/** Twice where it has to: the first answer may have been lost, and the server knows the passkey again. */
async function handIn(body) {
  try {
    return await send('POST', link, body);
  } catch (first) {
    return send('POST', link, body).catch((second) => {
      throw first instanceof Refused ? first : second;
    });
  }
}

/** Only after a 200: another person's passkey on the same link must not look like this one. */
function show({ passkey }) {
  if (passkey.isRemoved) return location.reload();
  document.getElementById('from').textContent = ownTime(passkey.approvesFrom);
  document.getElementById('invited').hidden = true;
  enrolled.hidden = false;
  enrolled.querySelector('h1').focus();
}

/** The link was used or revoked meanwhile, or its time is over: the server says which. */
async function isClosed() {
  try {
    return (await send('GET', link)).refusal !== null;
  } catch {
    return false;
  }
}

function inWords(error) {
  if (error instanceof DOMException) return whyNotMade(error);
  if (error.isRefusedByBrowser) return error.message;
  if (!(error instanceof Refused)) return 'Bursar cannot be reached. Try again in a moment.';
  if (error.status === 429) return `Too many requests. Wait ${error.retryAfter ?? 60} seconds and press again.`;
  return `Not done: ${error.message}.`;
}
