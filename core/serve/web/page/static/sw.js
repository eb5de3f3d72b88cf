// The service worker shows the messages of triggers of type webpush. It is registered by the page on which a
// user turns them on, and does nothing else: pages are not kept.
'use strict';
const scope = self.registration.scope;

self.addEventListener('push', event => {
  let message = {};
  try {
    message = event.data.json() || {};
  } catch {} // browsers want a notification for each message, whatever is in it
  const { title, body, tag, path, urgent, actions = [] } = message;
  event.waitUntil(self.registration.showNotification(title || 'Dogwatch', {
    body, tag, renotify: Boolean(tag), requireInteraction: Boolean(urgent), icon: '{{icon}}',
    actions: actions.map(({ action, title }) => ({ action, title })),
    data: { path: path || '', urls: Object.fromEntries(actions.map(({ action, url }) => [action, url])) },
  }));
});

self.addEventListener('notificationclick', event => {
  const { notification, action } = event;
  notification.close();
  const to = notification.data.urls[action] || new URL(notification.data.path, scope).href;
  event.waitUntil((async () => {
    // Pages that were open before the browser was subscribed are not controlled.
    const open = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const there = open.find(client => client.url === to);
    return there ? there.focus() : self.clients.openWindow(to);
  })());
});

// subscribe asks for a subscription with the key of the server: not all browsers say which one they have replaced.
const subscribe = async () => {
  const { publicKey } = await (await fetch(scope + 'api/push')).json();
  return self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
};

// A browser may replace a subscription by itself.
self.addEventListener('pushsubscriptionchange', event => event.waitUntil((async () => {
  const renewed = event.newSubscription || await subscribe();
  await fetch(scope + 'api/push/devices', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(renewed),
  });
})()));
