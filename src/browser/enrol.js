/** Enrols a passkey, or invites a person to, with the owner's API key, which is sent with each call and not stored. */
import { ownTime, Refused, send } from './page.js';
import { askForPasskey, makePasskey, whyNoPasskeys, whyNotMade } from './passkey.js';

const form = document.getElementById('enrol');
const problem = document.getElementById('problem');
const progress = document.getElementById('progress');

const why = whyNoPasskeys(location.origin);
if (why !== undefined) problem.textContent = why;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const call = callerWith(form.key.value.trim());
  problem.textContent = '';
  lock(true);
  try {
    const { id, name, approvesFrom, createdAt } = await enrol(call, form.name.value.trim());
    form.reset();
    done(`${name} is enrolled as ${id}.`, approvesFrom > createdAt ? approvesFrom : undefined);
  } catch (error) {
    problem.textContent = inWords(error);
  } finally {
    progress.textContent = '';
    lock(false);
  }
});

const invitation = document.getElementById('invite');

invitation.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (!form.key.reportValidity()) return;
  const call = callerWith(form.key.value.trim());
  problem.textContent = '';
  lock(true);
  try {
    const { name, enrolUrl, expiresAt } = await invite(call, invitation.person.value.trim(), invitation.hours.value);
    form.reset();
    invitation.reset();
    document.getElementById('ask').hidden = true;
    document.getElementById('invited-words').textContent =
      `${name} enrols a passkey with this link, once, until ${ownTime(expiresAt)}.`;
    document.getElementById('link').value = enrolUrl;
    document.getElementById('invited').hidden = false;
    document.getElementById('invited-title').focus();
  } catch (error) {
    problem.textContent = inWords(error);
  } finally {
    progress.textContent = '';
    lock(false);
  }
});

async function invite(call, name, hours) {
  progress.textContent = 'Making the link …';
  const body = { name, expiresInHours: Number(hours) };
  const enrolled = await call('GET', '/passkeys');
  if (enrolled.length === 0) return call('POST', '/passkeys/invitations', body);
  progress.textContent = 'Confirm with a passkey that is enrolled …';
  const { challengeId, options } = await call('POST', '/passkeys/challenges', { purpose: 'invite', name });
  const webauthnAssertion = { challengeId, assertion: await askForPasskey(options) };
  return call('POST', '/passkeys/invitations', { ...body, webauthnAssertion });
}

const callerWith = (key) => (method, path, body) => send(method, path, body, { Authorization: `Bearer ${key}` });

async function enrol(call, name) {
  progress.textContent = 'Asking for a new passkey …';
  const enrolled = await call('GET', '/passkeys');
  const { challengeId, options } = await call('POST', '/passkeys/register/options', { name });
  const attestation = await makePasskey(options);
  if (enrolled.length === 0) return call('POST', '/passkeys/register/verify', { challengeId, attestation, name });
  progress.textContent = 'Now confirm with a passkey that is enrolled …';
  const confirming = await call('POST', '/passkeys/challenges', { purpose: 'enroll', subjectId: challengeId });
  const webauthnAssertion = {
    challengeId: confirming.challengeId,
    assertion: await askForPasskey(confirming.options),
  };
  return call('POST', '/passkeys/register/verify', { challengeId, attestation, name, webauthnAssertion });
}

function done(words, from) {
  document.getElementById('ask').hidden = true;
  const said = document.getElementById('done-words');
  said.textContent = from === undefined ? words : `${words} It approves from ${ownTime(from)} on.`;
  document.getElementById('done').hidden = false;
  document.getElementById('done-title').focus();
}

function lock(isLocked) {
  for (const field of [...form.elements, ...invitation.elements]) field.disabled = isLocked;
}

function inWords(error) {
  if (error instanceof DOMException) return whyNotMade(error);
  if (!(error instanceof Refused)) return 'Bursar cannot be reached. Try again in a moment.';
  return error.status === 401
    ? 'This API key is unknown, revoked, or of the other mode.'
    : `Not done: ${error.message}.`;
}
