/** Functions that the pages share: calls to the API, and times in the reader's time zone. */

export class Refused extends Error {
  constructor(status, message, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export async function send(method, path, body, headers = {}) {
  const answer = await fetch(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  throw new Refused(answer.status, said.error ?? 'no reason was given', answer.headers.get('Retry-After') ?? undefined);
}

/** `2026-11-20T12:50:00Z` as it is here. */
export const ownTime = (iso) => `${form.format(new Date(iso)).replace(' at ', ', ')} your time`;

const form = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' });

/** UTC stays beside it. */
export function inOwnTime() {
  for (const time of document.querySelectorAll('time')) {
    time.title = time.textContent;
    time.textContent = ownTime(time.dateTime);
  }
}
