// What pages do beyond what a browser does by itself: follow events, keyboard shortcuts, the
// sheet beside the list, filters without a reload, copying. Everything here is
// an addition: without it, links and forms do the same.
(() => {
  'use strict';
  const base = document.documentElement.dataset.base || '';
  const $ = (query, from = document) => from.querySelector(query);
  const $$ = (query, from = document) => [...from.querySelectorAll(query)];
  const wide = matchMedia('(min-width: 960px)');
  const live = $('#live');
  const sheet = $('#sheet');

  const words = JSON.parse(document.body.dataset.words || '{}'), say = text => words[text] || text;
  const announce = text => { if (live) live.textContent = text; };
  const typing = target => target.closest('input:not([type=checkbox]), select, textarea, [contenteditable]');
  // With the target as source, a newer request replaces one under way (hx-sync).
  const load = (url, target, swap = 'outerHTML') => htmx.ajax('GET', url, { source: target, target, swap });
  const rowOf = key => $$('.row').find(row => row.dataset.key === key);
  const listURL = () => ($('#list') || { dataset: {} }).dataset.here || '/containers';

  // The sheet: on a desk a container opens beside its list.
  const openSheet = async (link, push, href = link.getAttribute('href')) => {
    const before = link.closest('.row');
    before?.setAttribute('aria-busy', 'true');
    await load(href, '#sheet', 'innerHTML');
    before?.removeAttribute('aria-busy');
    const row = before && rowOf(before.dataset.key); // a live update may have replaced it meanwhile
    sheet.hidden = false;
    document.body.classList.add('beside');
    $$('.row.open').forEach(row => row.classList.remove('open'));
    if (row) row.classList.add('open');
    if (push) history.pushState({ sheet: href }, '', href);
  };
  const closeSheet = push => {
    if (sheet.hidden) return false;
    sheet.hidden = true;
    sheet.replaceChildren();
    document.body.classList.remove('beside');
    const row = $('.row.open');
    if (row) { row.classList.remove('open'); $('.name', row).focus({ preventScroll: true }); }
    if (push) history.pushState({}, '', base + listURL());
    return true;
  };
  addEventListener('popstate', event => {
    const state = event.state || {};
    const row = state.sheet && $$('[data-sheet]').find(link => link.getAttribute('href') === state.sheet.split('?')[0]);
    if (row) openSheet(row, false, state.sheet);
    else if ($('#list') && location.pathname + location.search === base + listURL()) closeSheet(false);
    else location.reload();
  });

  // A tab of a container, or another of its versions, replaces what is shown of it.
  const openTab = async link => {
    const href = link.getAttribute('href');
    await load(href, '.container');
    history.pushState(sheet.hidden ? {} : { sheet: href }, '', href);
    const now = $$('.container [aria-current]').find(one => one.getAttribute('href') === href) || $('.container .views [aria-current]');
    now?.focus({ preventScroll: true });
  };

  // A further part of the list may go on with its last group, and has again what a change has moved meanwhile.
  document.addEventListener('htmx:after:swap', () => {
    if (!$('#list[data-parts]')) return;
    const keys = new Set();
    $$('#list .row').forEach(row => { if (keys.has(row.dataset.key)) row.remove(); else keys.add(row.dataset.key); });
    $$('#list [data-continued]').forEach(more => { $('.rows', more.previousElementSibling).append(...$$('.row', more)); more.remove(); });
  });

  // Filters change the list and the address.
  const showList = async (url, push) => {
    await load(url, '#list');
    closeSheet(false);
    history[push ? 'pushState' : 'replaceState']({}, '', base + listURL());
    waiting.clear();
    behind(0);
    const shown = Number($('#list').dataset.parts) || $$('.row').length;
    announce(shown === 1 ? '1 container shown' : shown + ' containers shown');
  };
  const filterURL = form => {
    const query = new URLSearchParams();
    const usual = { group: 'stack', sort: 'need' };
    for (const [name, value] of new FormData(form)) if (value && value !== usual[name]) query.set(name, value);
    return form.action + (query.size ? '?' + query : '');
  };
  let typed;
  const filter = $('#filter');
  if (filter) {
    filter.addEventListener('input', event => {
      if (event.target.type !== 'search') return;
      clearTimeout(typed);
      typed = setTimeout(() => showList(filterURL(filter), false), 150);
    });
    filter.addEventListener('change', event => { if (event.target.tagName === 'SELECT') showList(filterURL(filter), true); });
    filter.addEventListener('submit', event => { event.preventDefault(); showList(filterURL(filter), true); });
  }
  const setState = url => {
    if (!filter) return;
    let input = $('input[name=state]', filter);
    const state = new URL(url, location.href).searchParams.get('state');
    if (!state) { if (input) input.remove(); return; }
    if (!input) {
      input = document.createElement('input');
      input.type = 'hidden';
      input.name = 'state';
      filter.append(input);
    }
    input.value = state;
  };

  document.addEventListener('click', event => {
    $$('.menu[open]').forEach(menu => { if (!menu.contains(event.target)) menu.open = false; });
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    const link = event.target.closest('a');
    if (link && plain && link.matches('[data-sheet]') && wide.matches) {
      event.preventDefault();
      // Opened by a key, the sheet takes the focus; the keys go on walking the list.
      openSheet(link, true).then(() => { if (event.detail === 0) $('h1', sheet)?.focus(); });
    } else if (link && plain && link.matches('.container [data-tab]')) {
      event.preventDefault();
      openTab(link);
    } else if (link && plain && link.matches('[data-swap]')) {
      event.preventDefault();
      setState(link.href);
      const sort = filter && $('select[name=sort]', filter);
      if (sort) sort.value = new URL(link.href).searchParams.get('sort') || 'need';
      showList(link.href, true);
    } else if (event.target.closest('[data-close]')) {
      closeSheet(true);
    } else if (event.target.closest('#behind button')) {
      if ($('#list')) showList(base + listURL(), false);
      else refreshParts(true).then(() => $('#log a, #log button')?.focus({ preventScroll: true }));
    } else if (event.target.closest('[data-copy]')) {
      copy(event.target.closest('[data-copy]'));
    }
  });

  document.addEventListener('change', event => {
    if (!event.target.matches('.row input')) return;
    const count = $$('.row input:checked').length;
    const selected = count + ' ' + say('selected');
    $('#bulk strong').textContent = selected;
    announce(selected);
  });

  // A field that leaves of a list what has its text, as it is typed.
  document.querySelectorAll('[data-find]').forEach(field => {
    field.addEventListener('input', () => document.querySelectorAll(field.dataset.find).forEach(
      one => { one.hidden = !one.textContent.toLowerCase().includes(field.value.trim().toLowerCase()); }));
  });

  // The clipboard is only there for HTTPS and localhost; elsewhere a selection does.
  const copy = async button => {
    const text = button.dataset.copy;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      area.className = 'away';
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
    }
    const before = button.textContent;
    button.textContent = say(done ? 'Copied' : 'Select and copy it');
    announce(say(done ? 'Copied' : 'Copying is not allowed here'));
    setTimeout(() => { button.textContent = before; }, 2000);
  };

  // Lines to paste get a button that copies them.
  const offerCopies = within => $$('pre[data-copy=""]', within).forEach(lines => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = say('Copy');
    button.dataset.copy = lines.textContent;
    lines.removeAttribute('data-copy');
    const box = document.createElement('div');
    box.className = 'paste';
    lines.replaceWith(box);
    box.append(button, lines);
  });
  offerCopies();
  document.addEventListener('htmx:after:swap', () => offerCopies());

  // A user who waits for a part sees so, after a moment: see aria-busy in app.css.
  const busy = is => ({ detail }) => { if (detail.ctx.target instanceof Element) detail.ctx.target.ariaBusy = is; };
  document.addEventListener('htmx:before:request', busy('true'));
  document.addEventListener('htmx:finally:request', busy(null));

  // The user confirms a trigger that may change containers, by its name.
  document.addEventListener('submit', event => {
    const form = event.target, by = event.submitter;
    const choice = by && by.value === 'run' && $('select[name=trigger]', form);
    if (!choice || !choice.selectedOptions[0].hasAttribute('data-acts')) return;
    if (confirm(say('Run {}? It may change what runs.').replace('{}', () => choice.value))) {
      $('input[name=sure]', form).value = '1';
    } else {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // Each keyboard shortcut of the list, and those that lead to another page.
  const rowNow = () => $('.row:focus-within') || $('.row.open');
  const move = by => {
    const rows = $$('.row');
    if (!rows.length) return;
    const at = rows.indexOf(rowNow());
    const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
    const name = $('.name', row);
    name.focus();
    (row === rows.at(-1) && $('#list .lazy') || row).scrollIntoView({ block: 'nearest' }); // which loads a further part
    if (!sheet.hidden && !row.classList.contains('open')) openSheet(name, true).then(() => $('.row.open .name')?.focus());
  };
  const places = { o: '/', c: '/containers', h: '/history', u: '/operations', w: '/watchers', r: '/registries', t: '/triggers', p: '/plugins', s: '/settings' };
  let went = 0;
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = $('#keys');
    if (event.key === 'Escape') {
      if (keys.open) return;
      const menu = $('.menu[open]');
      if (menu) { menu.open = false; $('summary', menu).focus(); }
      else if (typing(event.target)) event.target.blur();
      else closeSheet(true);
      return;
    }
    if (typing(event.target) || keys.open) return;
    if (Date.now() - went < 1200 && places[event.key]) {
      location.href = base + places[event.key];
      return;
    }
    went = 0;
    const row = rowNow();
    switch (event.key) {
      case 'g': went = Date.now(); break;
      case '/': {
        const search = $('input[type=search]');
        if (search) { search.focus(); search.select(); } else location.href = base + '/containers';
        break;
      }
      case 'j': move(1); break;
      case 'k': move(-1); break;
      case 'x': if (row) $('input', row)?.click(); break;
      case 'u': ($('#sheet [data-update], .solo [data-update]') || (row && $('[data-update]', row)))?.click(); break;
      case 'r': case 'c': {
        if ($('#check-one')) $('#check-one').click();
        else if (row) check(row.dataset.key);
        else if ($('#check-all')) $('#check-all').click();
        break;
      }
      case '?': keys.showModal(); break;
      default: return;
    }
    event.preventDefault();
  });
  const check = key => htmx.ajax('POST', base + '/containers/act', { target: '#work', swap: 'outerHTML', values: { do: 'check', c: key } });

  // Events (SSE). Only a visible page holds a connection, of which browsers allow
  // few; one that is visible again fetches what it missed.
  const types = {
    container: ['added', 'replaced', 'renamed', 'changed', 'removed'], update: ['found', 'cleared'], choice: ['made', 'undone'], check: ['started', 'progress', 'finished', 'failed'],
    operation: ['queued', 'started', 'step', 'progress', 'succeeded', 'rolledback', 'failed', 'cancelled'],
    trigger: ['sent', 'failed', 'skipped'], plugin: ['up', 'down', 'broken', 'changed'], component: ['changed'], delivery: ['changed', 'progress'],
    auth: ['login', 'failed', 'logout', 'token.created', 'token.revoked'], setting: ['changed'], scan: ['progress', 'finished'], log: ['written'], work: ['changed'],
  };
  const follows = ['work', ...document.body.dataset.live.split(' ').filter(Boolean)];
  // What is in no log is not sent again: a page that (re)connects has to fetch it.
  // The tabs of a container that show none of it have nothing to fetch.
  const shows = id => !$('.container') || $(id);
  const fleeting = ['component', 'plugin', 'log', shows('#sent') ? 'delivery' : '', shows('#scan') ? 'scan' : '', $('#work .running') ? 'work' : ''];
  const heard = new Set(), changed = new Set(), waiting = new Set(), lost = $('#lost');
  let source, last = document.body.dataset.last, opened = 0, wait = 1000, timer, rested = 0;
  const soon = () => { timer ||= setTimeout(refresh, Math.max(50, rested + 500 - Date.now())); };
  const hear = event => {
    if (event.type === 'operation.progress' && !$('[data-operation]')) return; // too much for other pages
    last = event.lastEventId || last;
    const { subject, from } = JSON.parse(event.data);
    if (subject && subject.includes('/')) changed.add(subject);
    if (from) changed.add(subject.split('/')[0] + '/' + from); // its row under the old name
    heard.add(event.type.split('.')[0]);
    soon();
  };
  const connect = () => {
    if (source || document.hidden) return;
    const own = source = new EventSource(base + '/api/events' + (last ? '?lastEventId=' + last : ''));
    own.addEventListener('open', () => {
      wait = 1000, lost.hidden = true;
      follows.filter(family => opened || fleeting.includes(family)).forEach(family => heard.add(family));
      if (opened++ && $('.container')) changed.add($('.container').dataset.key);
      if (heard.size) soon();
    });
    own.addEventListener('error', () => {
      if (source !== own) return;
      lost.hidden = false;
      if (own.readyState !== EventSource.CLOSED) return; // the browser connects again by itself
      disconnect(); // it was refused, as by a proxy while Dogwatch starts
      setTimeout(() => fetchPart(base + '/work').catch(() => {}).then(connect), wait);
      wait = Math.min(2 * wait, 30000);
    });
    follows.forEach(family => types[family].forEach(type => own.addEventListener(family + '.' + type, hear)));
    own.addEventListener('reset', event => { last = event.lastEventId; reload(); });
  };
  const disconnect = () => { source?.close(); source = undefined; };
  connect();
  document.addEventListener('visibilitychange', () => { if (document.hidden) disconnect(); else connect(); });
  addEventListener('pagehide', disconnect);
  addEventListener('pageshow', connect);

  // While a pointer is down nothing is replaced: browsers make no click of a press on
  // one element and a release on another. A release may happen where no page hears of it.
  let pressed, released;
  addEventListener('pointerdown', () => { pressed ||= new Promise(resolve => { released = resolve; setTimeout(resolve, 2000); }); }, true);
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => setTimeout(() => { released?.(); pressed = undefined; }), true);

  // A menu has done what it is for.
  document.addEventListener('submit', event => {
    const menu = event.target.closest('.menu');
    if (menu) setTimeout(() => { menu.open = false; $('summary', menu).focus(); });
  }, true);

  // A reload would cancel the way to the next page, as after logging out.
  let left = 0;
  addEventListener('submit', event => { if (!event.defaultPrevented) left = Date.now(); });
  addEventListener('click', event => { if (!event.defaultPrevented && event.target.closest('a[href]')) left = Date.now(); });
  const reload = () => { if (Date.now() - left > 5000) location.reload(); };

  // One refresh at a time, for all events that were received since the last one.
  const refresh = async () => {
    const of = new Set(heard), keys = [...changed], any = (...families) => families.some(family => of.has(family));
    heard.clear();
    changed.clear();
    try {
      const solo = $('.container'), own = solo && keys.includes(solo.dataset.key);
      if (of.delete('work')) await refreshWork();
      if (any('container', 'update', 'check', 'operation') && $('#list')) await refreshRows(keys);
      if (any('container') && keys.length && $('[data-reload]')) reload(); // not for the mere beginning of the stream
      if (own && $('#why') && any('container', 'update', 'check')) htmx.ajax('GET', solo.dataset.why, { source: '#why', target: '#why', swap: 'innerHTML' });
      if (own || any('check', 'trigger', 'delivery', 'setting', 'scan') || !solo && of.size) await refreshParts(false);
    } catch { /* the connection is lost, and all is asked for once it is back */ }
    timer = 0;
    rested = Date.now();
    if (heard.size) soon();
  };
  const fetchPart = async url => {
    const answer = await fetch(url, { headers: { 'HX-Request': 'true' } });
    if (answer.status === 401) reload(); // logged out meanwhile
    if (answer.status === 404 && !closeSheet(true)) reload(); // gone: the page says so
    if (!answer.ok) return null;
    const text = await answer.text();
    await pressed;
    return new DOMParser().parseFromString(text, 'text/html');
  };
  const behind = (count, noun = count === 1 ? 'change' : 'changes') => {
    const bar = $('#behind'), text = count + ' ' + say(noun);
    if (!bar) return;
    if (count && $('span', bar).textContent !== text) announce(text);
    bar.hidden = count === 0;
    $('span', bar).textContent = text;
  };

  // Rows change in place and never move: what would appear, vanish or move is
  // counted, and shown when asked for.
  const refreshRows = async keys => {
    if (keys.length > 100) { // as after the first check: too much to follow with the eye
      keys.forEach(key => waiting.add(key));
      keys = [];
    }
    const url = new URL(base + listURL(), location.href);
    const query = new URLSearchParams(url.search), { parts } = $('#list').dataset;
    // Of a list that is shown by parts, other rows are asked for by n: those that belong to the parts shown are changes.
    keys.forEach(key => query.append(parts && !rowOf(key) ? 'n' : 'c', key));
    if (parts) query.set('to', $('#list .lazy')?.dataset.from || parts);
    const part = await fetchPart(base + '/containers/rows?' + query);
    let again = false;
    if (!part) return;
    for (const id of ['summary', 'chips', 'outages']) {
      const now = document.getElementById(id), next = part.getElementById(id);
      if (!now || !next || now.innerHTML === next.innerHTML) continue;
      now.innerHTML = next.innerHTML;
      // An engine is gone or back: each row says how old it is.
      if (id === 'outages') keys = [...new Set([...keys, ...$$('.row').map(row => row.dataset.key)])].slice(0, 100), again = true;
    }
    if (again) return refreshRows(keys);
    const next = new Map($$('.row', part).map(row => [row.dataset.key, row]));
    const announced = [];
    for (const key of keys) {
      const row = rowOf(key), fresh = next.get(key);
      if (!row || !fresh) {
        if (row || fresh) waiting.add(key);
        continue;
      }
      if (row.textContent === fresh.textContent) continue;
      const kindBefore = $('.kind', row)?.className, kindAfter = $('.kind', fresh)?.className;
      // That the date of a release became known is not announced, though its row may have another place.
      const quiet = kindBefore === kindAfter && $('.tags', row).textContent === $('.tags', fresh).textContent && !$('.bad', row) && !$('.bad', fresh);
      const dated = $('.age time', row)?.dateTime !== $('.age time', fresh)?.dateTime;
      if (kindBefore !== kindAfter || dated && $('select[name=sort]').value === 'age') waiting.add(key);
      const box = $('input', row), focus = row.contains(document.activeElement) && document.activeElement.className;
      fresh.className = row.className;
      $('input', fresh).checked = box.checked;
      row.replaceWith(document.adoptNode(fresh));
      if (!quiet) fresh.classList.add('changed');
      if (focus === 'name') $('.name', fresh).focus({ preventScroll: true });
      if (!quiet) announced.push($('.name', fresh).textContent + ': ' + $('.tags', fresh).textContent + ' ' + ($('.kind', fresh)?.textContent || say('up to date')));
    }
    behind(waiting.size);
    if (announced.length) announce(announced.length > 3 ? announced.length + ' containers changed' : announced.join('. '));
  };

  // Makes an element like a newer one and leaves alone what is the same, so that
  // focus, selection and what is unfolded stay. announced gets what a user should notice.
  const settle = (now, next, announced) => {
    if (now.isEqualNode(next)) return;
    const olds = [...now.childNodes], news = [...next.childNodes];
    const notice = () => { if (!now.closest('[data-quiet]')) announced.add(now.closest('li, tr, .thing, .change, .card') || now); };
    if (olds.length !== news.length || olds.some((old, i) => old.nodeName !== news[i].nodeName || old.id !== news[i].id)) {
      now.replaceChildren(...news);
      htmx.process(now); // its forms
      notice();
    } else {
      olds.forEach((old, i) => {
        if (old.nodeType === Node.ELEMENT_NODE) settle(old, news[i], announced);
        else if (old.data !== news[i].data) {
          old.data = news[i].data;
          if (now.tagName !== 'TIME') notice(); // time passes
        }
      });
    }
    for (const { name, value } of [...next.attributes]) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
    for (const name of now.getAttributeNames()) if (name !== 'open' && !next.hasAttribute(name)) now.removeAttribute(name);
  };
  const refreshWork = async () => {
    const part = await fetchPart(base + '/work');
    if (part) settle($('#work'), $('#work', part), new Set());
  };
  const refreshParts = async all => {
    // The tab that is open, which the address need not name.
    const part = $('[data-part]') && await fetchPart($('.container')?.dataset.here || location.pathname + location.search);
    if (!part) return;
    offerCopies(part);
    const announced = new Set();
    $$('[data-part]').forEach(now => {
      const next = part.getElementById(now.id);
      if (next && now.dataset.about) {
        // Fetched notes stay until they are about another update.
        if (now.dataset.about === next.dataset.about) return;
        now.replaceWith(next);
        htmx.process(next);
      } else if (next && !all && now.matches('[data-log]') && $('tbody', now)) settleLog(now, next, announced);
      else if (next) settle(now, next, announced);
    });
    if (all) behind(0);
    const texts = [...announced].filter(element => element.isConnected).map(element => element.textContent.replace(/\s+/g, ' ').trim());
    announced.forEach(element => element.classList.add('changed'));
    if (texts.length) announce(texts.length > 3 ? texts.length + ' changes' : texts.join('. '));
  };
  // The rows of a log change in place; what is new or gone is counted, and shown when asked for.
  const settleLog = (now, next, announced) => {
    const rows = new Map($$('tbody tr', next).map(row => [row.id, row])), shown = $$('tbody tr', now);
    const known = [...rows.keys()].findIndex(id => shown.some(row => row.id === id)), added = known < 0 ? rows.size : known;
    const gone = shown.filter(row => !rows.has(row.id)).length;
    shown.forEach(row => { if (rows.has(row.id)) settle(row, rows.get(row.id), announced); });
    behind(added || gone, added ? (added === rows.size ? 'or more new' : 'new') : undefined);
  };
  // The time since an operation began goes on by itself; each refresh sets it right.
  const elapsed = s => s < 60 ? s + '\u00a0s' : s < 3600 ? Math.floor(s / 60) + '\u00a0min ' + s % 60 + '\u00a0s' : Math.floor(s / 3600) + '\u00a0h ' + Math.floor(s % 3600 / 60) + '\u00a0min';
  const tick = () => {
    const clock = $('[data-elapsed]');
    if (!clock) return;
    clock.textContent = elapsed(++clock.dataset.elapsed);
    setTimeout(tick, 1000);
  };
  setTimeout(tick, 1000);
  document.addEventListener('animationend', event => event.target.classList.remove('changed'));
  // Where a bar of links scrolls, that of what is shown is in view.
  $$('.chips [aria-current], .views [aria-current]').forEach(link => {
    const bar = link.parentElement;
    bar.scrollLeft = Math.max(0, link.offsetLeft - bar.offsetLeft + link.offsetWidth - bar.clientWidth);
  });
  document.documentElement.dataset.ready = ''; // keys and links do what they should from here on
})();
