/** The scripts of the page of news: one for the page, and the service worker. */

/** Offers news, and acknowledges the messages on the page. */
export const NEWS_SCRIPT = `'use strict';
const { key, link, path, shown, here } = document.body.dataset;
const at = (id) => document.getElementById(id);
const show = (id) => { at(id).hidden = false; };
const post = (body) => fetch(path + '/news', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
});
const bytes = (text) => Uint8Array.from(
  atob(text.replace(/-/g, '+').replace(/_/g, '/')), (sign) => sign.charCodeAt(0));
const isApple = /iP(hone|ad|od)/.test(navigator.userAgent)
  || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
const isInstalled = navigator.standalone || matchMedia('(display-mode: standalone)').matches;
async function worker() {
  await navigator.serviceWorker.register(path + '/worker.js', { scope: path + '/' });
  return navigator.serviceWorker.ready;
}
async function subscribe() {
  at('get').disabled = true;
  try {
    if (await Notification.requestPermission() !== 'granted') return show('denied');
    const { pushManager } = await worker();
    const options = { userVisibleOnly: true, applicationServerKey: bytes(key) };
    const push = await pushManager.subscribe(options);
    const reply = await post({ link, push, locale: navigator.language });
    if (reply.ok) location.reload();
    else show(reply.status === 409 ? 'full' : 'failed');
  } catch {
    show('failed');
  } finally {
    at('get').disabled = false;
  }
}
const isAble = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
if (at('bare')) at('bare').hidden = true;
if (here) {
  if (isAble) worker().catch(() => undefined);
  const items = shown.split(' ').filter(Boolean).map((id) => ({ id: Number(id), state: 'opened' }));
  if (items.length > 0) post({ items }).catch(() => undefined);
} else if (isAble) {
  show('get');
  at('get').addEventListener('click', subscribe);
} else show(isApple && !isInstalled ? 'apple' : 'unable');
`;

/** Shows pushes, and acknowledges them. */
export const WORKER_SCRIPT = `'use strict';
const news = new URL('news', self.location);
const post = (body) => fetch(news, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
}).catch(() => undefined);
const tell = (id, state) => (id > 0 ? post({ items: [{ id, state }] }) : Promise.resolve());
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => {
  const { id = 0, notification } = event.data ? event.data.json() : {};
  const { title = '\\u2026', body = '', tag = '', silent = false, navigate } = notification || {};
  const data = { id, navigate: navigate || news.href };
  event.waitUntil(Promise.all([
    self.registration.showNotification(title, { body, tag, silent, dir: 'auto', data }),
    tell(id, 'received'),
  ]));
});
self.addEventListener('notificationclick', (event) => {
  const { id, navigate } = event.notification.data || {};
  event.notification.close();
  const open = self.clients.openWindow(navigate || news.href);
  event.waitUntil(Promise.all([tell(id, 'opened'), open]));
});
self.addEventListener('pushsubscriptionchange', (event) => {
  const { oldSubscription: old, newSubscription: given } = event;
  const again = async () => {
    const options = old && old.options;
    const push = given || (options && await self.registration.pushManager.subscribe(options));
    if (push) await post({ push });
  };
  event.waitUntil(again());
});
`;

/** The icon of the installed app, in the provider's colour. */
export const iconOf = (color: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">` +
  `<rect width="512" height="512" fill="${color}"/>` +
  `<path fill="#fff" d="M256 96c-66 0-112 50-112 116v68l-32 56v24h288v-24l-32-56v-68` +
  `c0-66-46-116-112-116zm-44 280a44 44 0 0 0 88 0z"/></svg>`;
