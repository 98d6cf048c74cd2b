/** Carries out the buttons of the approver's page. The server renders the page before and after. */

import { inOwnTime, send } from './page.js';
import { askForPasskey, whyNoPasskeys, whyNotMade } from './passkey.js';

const link = location.pathname.replace(/\/$/, '');
const approve = document.getElementById('approve');
const deny = document.getElementById('deny');
const problem = document.getElementById('problem');
const progress = document.getElementById('progress');
const changes = document.getElementById('changes');
const buttons = [...document.querySelectorAll('button')];
let asking;

inOwnTime();

const origin = approve?.dataset.origin;
const why = origin === undefined ? undefined : whyNoPasskeys(origin);
if (why !== undefined) {
  approve.disabled = true;
  say(why);
  if (origin !== location.origin) offerPageAt(origin);
}

approve?.addEventListener('click', () => {
  asking = new AbortController();
  const { signal } = asking;
  void deciding('Waiting for your passkey …', [approve], async () => {
    const given = changed();
    const { challengeId, options } = await send('POST', `${link}/challenge`, given);
    const assertion = await askForPasskey(options, signal);
    say('', 'Approving …');
    lock(buttons);
    await send('POST', link, { webauthnAssertion: { challengeId, assertion }, ...given });
  });
});

deny?.addEventListener('submit', (event) => {
  event.preventDefault();
  asking?.abort(); // Who denies has changed their mind about the passkey.
  const reason = deny.reason.value.replaceAll(/\s+/g, ' ').trim();
  void deciding('Denying …', buttons, () => send('POST', `${link}/deny`, reason === '' ? {} : { reason }));
});

/** The amounts that differ from the requested ones; an empty field stays as requested. */
function changed() {
  const inputs = [...(changes?.querySelectorAll('input') ?? [])];
  const invalid = inputs.find((input) => !input.checkValidity());
  if (invalid !== undefined) {
    invalid.focus();
    throw Object.assign(new Error(`${invalid.labels[0].firstChild.textContent.trim()} is not an amount in euros`), {
      status: 400,
    });
  }
  const given = inputs.filter(
    ({ value, defaultValue }) => value !== '' && Number(value) !== Number(defaultValue || NaN),
  );
  return given.length === 0
    ? {}
    : { changes: Object.fromEntries(given.map(({ name, value }) => [name, Number(value)])) };
}

/** Afterwards the server says what became of it. */
async function deciding(doing, meanwhile, decide) {
  say('', doing);
  lock(meanwhile);
  try {
    await decide();
    location.reload();
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (await isDecided()) return location.reload();
    lock(approve !== null && why !== undefined ? [approve] : []);
    say(inWords(error));
  }
}

const lock = (locked) => {
  if (changes !== null) changes.disabled = locked.length > 0;
  for (const button of buttons) button.disabled = locked.includes(button);
};

/** Another person may have been faster, or the answer was lost. */
async function isDecided() {
  try {
    return (await send('GET', link)).request === null;
  } catch {
    return false;
  }
}

function inWords(error) {
  if (error.status === undefined)
    return error instanceof DOMException ? whyNotMade(error) : 'Bursar cannot be reached. Try again in a moment.';
  if (error.status === 503)
    return `Bursar cannot carry this out just now. Wait ${error.retryAfter ?? 5} seconds and press again: pressing twice decides once.`;
  if (error.status === 429) return `Too many requests. Wait ${error.retryAfter ?? 60} seconds and press again.`;
  return `Not done: ${error.message}.`;
}

function say(objection, doing = '') {
  problem.textContent = objection;
  progress.textContent = doing;
}

function offerPageAt(elsewhere) {
  const way = document.createElement('a');
  way.href = new URL(location.pathname, elsewhere).href;
  way.textContent = 'Open it there';
  problem.append(' ', way);
}
