/** The service worker: shows a push message, and opens the approver's page when it is pressed. Keeps nothing. */

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const { title, body, tag, url } = read(event);
  const options = { body, tag, icon: '/docs/pages/icon.svg', data: { url } };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { url } = event.notification.data ?? {};
  if (typeof url === 'string' && isApproversPage(url)) event.waitUntil(open(url));
});

/** Browsers demand a notification for each message, also for one that cannot be read. */
function read({ data }) {
  try {
    const { title, body, tag, url } = data.json();
    return { title: String(title), body: String(body), tag: String(tag), url };
  } catch {
    return { title: 'Bursar', body: 'Something waits for you.', tag: 'bursar', url: null };
  }
}

const isApproversPage = (url) => /^\/approve\/[0-9a-f]{32}$/.test(url);

async function open(url) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const shown = pages.find((page) => new URL(page.url).pathname === url);
  return shown === undefined ? self.clients.openWindow(url) : shown.focus();
}
