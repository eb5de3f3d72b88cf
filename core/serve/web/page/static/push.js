// Turns the notifications of this browser on and off, on the page that lists the devices. The sentences are
// on the page; the script shows the one that is true.
(() => {
  'use strict';
  const card = document.querySelector('#push');
  if (!card) return;
  const base = document.documentElement.dataset.base || '';
  const show = state => {
    for (const part of card.querySelectorAll('[data-push]')) part.hidden = !part.dataset.push.split(' ').includes(state);
  };
  const key = Uint8Array.from(atob(card.dataset.key.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
  const call = (method, path, body) => fetch(base + '/api/push/devices' + path, {
    method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  });
  // idOf is how the server names a subscription.
  const idOf = async subscription => {
    const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(subscription.endpoint));
    return [...new Uint8Array(sum, 0, 8)].map(b => b.toString(16).padStart(2, '0')).join('');
  };
  const failed = error => {
    card.querySelector('[data-error]').textContent = error.message || String(error);
    show('failed');
  };

  const subscribe = async registration => {
    const options = { userVisibleOnly: true, applicationServerKey: key };
    try {
      return await registration.pushManager.subscribe(options);
    } catch (error) {
      // A subscription of another installation at this address has another key.
      const other = error.name === 'InvalidStateError' && await registration.pushManager.getSubscription();
      if (!other) throw error;
      await other.unsubscribe();
      return registration.pushManager.subscribe(options);
    }
  };

  const turnOn = async () => {
    if (await Notification.requestPermission() !== 'granted') return refresh();
    await navigator.serviceWorker.register(base + '/sw.js', { scope: base + '/' });
    const subscription = await subscribe(await navigator.serviceWorker.ready);
    const answer = await call('POST', '', subscription);
    if (!answer.ok) throw new Error((await answer.json()).detail);
    location.reload();
  };

  const turnOff = async () => {
    const subscription = await current();
    if (subscription) {
      await call('DELETE', '/' + await idOf(subscription));
      await subscription.unsubscribe();
    }
    location.reload();
  };

  const current = async () => {
    const registration = await navigator.serviceWorker.getRegistration(base + '/');
    return registration && registration.pushManager.getSubscription();
  };

  const refresh = async () => {
    if (!isSecureContext) return show('insecure');
    if (!('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window)) {
      return show('unsupported');
    }
    if (Notification.permission === 'denied') return show('denied');
    const subscription = await current();
    const row = subscription && document.querySelector(`[data-device="${await idOf(subscription)}"]`);
    if (row) row.querySelector('[data-own]').hidden = false;
    show(row ? 'on' : 'off');
  };

  const press = (name, act) => {
    const button = card.querySelector(`[data-press=${name}]`);
    button.addEventListener('click', async () => {
      button.disabled = true;
      await act().catch(failed);
      button.disabled = false;
    });
  };
  press('on', turnOn);
  press('off', turnOff);
  refresh().catch(failed);
})();
