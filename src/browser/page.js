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

const shortForms = {
  hour: new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' }),
};

/** UTC stays beside it. `data-form`: shorter, where a page says once that its times are the reader's. */
export function inOwnTime(within = document) {
  for (const time of within.querySelectorAll('time')) {
    time.title = time.textContent;
    const short = shortForms[time.dataset.form];
    time.textContent = short === undefined ? ownTime(time.dateTime) : short.format(new Date(time.dateTime));
  }
}
