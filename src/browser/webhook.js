/**
 * Carries out the buttons of a subscription's page, and keeps the page current: the server renders it anew, and what the
 * reader has open or under the keyboard stays.
 */
import { inOwnTime, Refused, send } from './page.js';

const link = location.pathname.replace(/\/$/, '');
const problem = document.getElementById('problem');
const progress = document.getElementById('progress');
const everyMs = 30_000;
/** After a button: results come within seconds. */
const soonMs = [1_500, 4_000, 10_000];
let isBusy = false;
let isPressed = false;

inOwnTime();
// A sheet that says why there is no page stays as it is.
if (document.getElementById('page') !== null) {
  setInterval(() => void refreshed(), everyMs);
  document.addEventListener('visibilitychange', () => void refreshed());
}

// A button that is replaced while it is held down is not clicked.
document.addEventListener('pointerdown', () => {
  isPressed = true;
});
for (const end of ['pointerup', 'pointercancel']) {
  document.addEventListener(end, () => {
    isPressed = false;
  });
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-post]');
  if (button !== null && !isBusy) void carryOut(button);
});

async function carryOut(button) {
  const { post, id, doing, done } = button.dataset;
  busy(true);
  say('', doing);
  try {
    const answer = await send('POST', `${link}/${post}`, id === undefined ? {} : { ids: [id] });
    const many = answer.deliveries ?? answer.queued;
    say('', `${many === undefined ? done : `${many} ${many === 1 ? singular(done) : done}`}.`);
    for (const ms of soonMs) setTimeout(() => void refreshed(), ms);
  } catch (error) {
    say(inWords(error));
  } finally {
    busy(false);
  }
  await refreshed();
}

const singular = (words) => words.replace(/^deliveries are/, 'delivery is').replace(/^deliveries were/, 'delivery was');

function busy(now) {
  isBusy = now;
  for (const button of document.querySelectorAll('button[data-post]')) button.disabled = now;
}

/** A page that cannot be had stays as it is: the next time comes soon. */
async function refreshed() {
  if (isBusy || document.hidden) return;
  const { status, text } = await rendered().catch(() => ({ status: 0, text: '' }));
  if (status === 404) return location.reload(); // The link is not good any more, and the server says why.
  if (status !== 200) return;
  const fresh = new DOMParser().parseFromString(text, 'text/html').getElementById('page');
  const shown = document.getElementById('page');
  if (fresh === null || shown === null || isBusy || isPressed) return;
  for (const { id } of shown.querySelectorAll('details[open][id]'))
    fresh.querySelector(`#${id}`)?.setAttribute('open', '');
  inOwnTime(fresh);
  const { id } = document.activeElement;
  shown.replaceWith(document.adoptNode(fresh));
  if (id !== '') document.getElementById(id)?.focus({ preventScroll: true });
}

async function rendered() {
  const answer = await fetch(location.href, {
    headers: { Accept: 'text/html' },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  });
  return { status: answer.status, text: await answer.text() };
}

function inWords(error) {
  if (!(error instanceof Refused)) return 'Bursar cannot be reached. Try again in a moment.';
  if (error.status === 503)
    return 'Bursar does not know whether this was done: it may still take effect. Load the page again in a moment.';
  if (error.status === 429) return `Too many requests. Wait ${error.retryAfter ?? 60} seconds and press again.`;
  return `Not done: ${error.message}.`;
}

function say(objection, doing = '') {
  problem.textContent = objection;
  progress.textContent = doing;
}
