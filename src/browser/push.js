/** Subscribes this device to notifications: registers the service worker and asks the browser. Sends nothing to the API. */

const canNotify = () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

/** Undefined where the browser can. */
export const whyNoNotifications = () => (canNotify() ? undefined : 'This browser cannot show notifications.');

/** On iPhones and iPads, whose browsers alone know `standalone`, a page can notify only from the home screen. */
export const needsHomeScreen = () => !canNotify() && navigator.standalone === false;

/** To be called first after a press: some browsers ask a person only right after one. */
export async function askToNotify() {
  if ((await Notification.requestPermission()) !== 'granted')
    throw refused('Notifications are not allowed for this site.');
}

/** What the API takes of a subscription. One that exists is kept, because it may be in use; one with another key ends. */
export async function subscribeDevice(publicKey) {
  await navigator.serviceWorker.register('/push-worker.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  const known = await pushManager.getSubscription();
  if (known !== null && keyOf(known) === publicKey) return deviceOf(known);
  await known?.unsubscribe();
  const applicationServerKey = publicKey;
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(() => {
    throw refused('The push service of this browser cannot be reached.');
  });
  return deviceOf(made);
}

/** In base64url, as the API has it. */
function keyOf({ options: { applicationServerKey: key } }) {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(key ?? [])));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function deviceOf(subscription) {
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
}

const refused = (message) => Object.assign(new Error(message), { isRefusedByBrowser: true });
