/** Subscribes this device to notifications: registers the service worker and asks the browser. Sends nothing to the API. */

/** Undefined where the browser can. */
export function whyNoNotifications() {
  if ('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) return undefined;
  return 'This browser cannot show notifications here. On an iPhone, add this page to the home screen first.';
}

/** What the API takes of a subscription. A device that subscribed with another key subscribes again. */
export async function subscribeDevice(publicKey) {
  if ((await Notification.requestPermission()) !== 'granted')
    throw refused('Notifications are not allowed for this site.');
  await navigator.serviceWorker.register('/push-worker.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
  const applicationServerKey = publicKey;
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(() => {
    throw refused('The push service of this browser cannot be reached.');
  });
  const { endpoint, keys } = made.toJSON();
  return { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
}

const refused = (message) => Object.assign(new Error(message), { isRefusedByBrowser: true });
