// What pages do beyond what a browser does by itself: follow events, keys, the
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

  const say = text => { if (live) live.textContent = text; };
  const typing = target => target.closest('input:not([type=checkbox]), select, textarea, [contenteditable]');
  // With the target as source, a newer request replaces one under way (hx-sync).
  const load = (url, target, swap = 'outerHTML') => htmx.ajax('GET', url, { source: target, target, swap });
  const listURL = () => ($('#list') || { dataset: {} }).dataset.here || '/containers';

  // The sheet: on a desk a container opens beside its list.
  const openSheet = async (link, push) => {
    const href = link.getAttribute('href');
    await load(href, '#sheet', 'innerHTML');
    sheet.hidden = false;
    document.body.classList.add('beside');
    $$('.row.open').forEach(row => row.classList.remove('open'));
    const row = link.closest('.row');
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
    const row = state.sheet && $$('[data-sheet]').find(link => link.getAttribute('href') === state.sheet);
    if (row) openSheet(row, false);
    else if ($('#list') && location.pathname + location.search === base + listURL()) closeSheet(false);
    else location.reload();
  });

  // Filters change the list and the address.
  const showList = async (url, push) => {
    await load(url, '#list');
    closeSheet(false);
    history[push ? 'pushState' : 'replaceState']({}, '', base + listURL());
    waiting.clear();
    behind(0);
    const shown = $$('.row').length;
    say(shown === 1 ? '1 container shown' : shown + ' containers shown');
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
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    const link = event.target.closest('a');
    if (link && plain && link.matches('[data-sheet]') && wide.matches) {
      event.preventDefault();
      openSheet(link, true);
    } else if (link && plain && link.matches('[data-swap]')) {
      event.preventDefault();
      setState(link.href);
      showList(link.href, true);
    } else if (event.target.closest('[data-close]')) {
      closeSheet(true);
    } else if (event.target.closest('#behind button')) {
      showList(base + listURL(), false);
    } else if (event.target.closest('[data-copy]')) {
      copy(event.target.closest('[data-copy]'));
    }
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
    button.textContent = done ? 'Copied' : 'Select and copy it';
    say(done ? 'Copied' : 'Copying is not allowed here');
    setTimeout(() => { button.textContent = before; }, 2000);
  };

  // Lines to paste get a button that copies them.
  const offerCopies = () => $$('pre[data-copy=""]').forEach(lines => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = 'Copy';
    button.dataset.copy = lines.textContent;
    lines.removeAttribute('data-copy');
    lines.before(button);
  });
  offerCopies();
  document.addEventListener('htmx:after:swap', offerCopies);

  // A trigger that may change containers is asked about, once, by its name.
  document.addEventListener('submit', event => {
    const form = event.target, by = event.submitter;
    const choice = by && by.value === 'run' && $('select[name=trigger]', form);
    if (!choice || !choice.selectedOptions[0].hasAttribute('data-acts')) return;
    if (confirm('Run ' + choice.value + '? It may change what runs.')) {
      $('input[name=sure]', form).value = '1';
    } else {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // Keys.
  const rowNow = () => $('.row:focus-within') || $('.row.open');
  const move = by => {
    const rows = $$('.row');
    if (!rows.length) return;
    const at = rows.indexOf(rowNow());
    const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
    const name = $('.name', row);
    name.focus();
    row.scrollIntoView({ block: 'nearest' });
    if (!sheet.hidden && !row.classList.contains('open')) openSheet(name, true).then(() => name.focus());
  };
  const places = { o: '/', c: '/containers', h: '/history', w: '/watchers', r: '/registries', t: '/triggers', p: '/plugins', s: '/settings' };
  let went = 0;
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = $('#keys');
    if (event.key === 'Escape') {
      if (keys.open) return;
      if (typing(event.target)) event.target.blur();
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
      case 'x': if (row) $('input', row).click(); break;
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

  // Events. Only a page that is looked at holds a connection, of which browsers
  // allow few; one that is looked at again asks for what it missed.
  const kinds = ['container.added', 'container.replaced', 'container.changed', 'container.removed', 'update.found', 'update.cleared', 'check.started', 'check.finished', 'check.failed', 'trigger.sent', 'trigger.failed'];
  const changed = new Set(), waiting = new Set();
  let source, last, timer;
  const connect = () => {
    if (source || document.hidden) return;
    source = new EventSource(base + '/api/events' + (last ? '?lastEventId=' + last : ''));
    const heard = event => {
      last = event.lastEventId || last;
      try {
        const subject = JSON.parse(event.data).subject;
        if (subject) changed.add(subject);
      } catch { /* an event that says nothing to us */ }
      timer ||= setTimeout(refresh, 100);
    };
    // The browser connects again by itself; what was missed is sent then.
    const lost = $('#lost');
    source.addEventListener('open', () => { lost.hidden = true; });
    source.addEventListener('error', () => { lost.hidden = !source; });
    kinds.forEach(kind => source.addEventListener(kind, heard));
    source.addEventListener('reset', event => { last = event.lastEventId; location.reload(); });
  };
  const disconnect = () => {
    if (source) source.close();
    source = undefined;
  };
  if (document.body.hasAttribute('data-live')) {
    connect();
    document.addEventListener('visibilitychange', () => { if (document.hidden) disconnect(); else connect(); });
    addEventListener('pagehide', disconnect);
    addEventListener('pageshow', connect);
  }

  const refresh = () => {
    timer = 0;
    const keys = [...changed].filter(key => key.includes('/'));
    changed.clear();
    if ($('#list')) refreshRows(keys);
    if ($('#overview')) load(base + '/', '#overview');
    const solo = $('.container');
    if (solo && keys.includes(solo.dataset.key)) refreshContainer(solo);
  };
  const fetchPart = async url => {
    const answer = await fetch(url, { headers: { 'HX-Request': 'true' } });
    if (answer.status === 401) location.reload(); // logged out meanwhile
    if (!answer.ok) return null;
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  };
  const behind = count => {
    const bar = $('#behind');
    if (!bar) return;
    bar.hidden = count === 0;
    $('span', bar).textContent = count === 1 ? '1 change' : count + ' changes';
  };

  // Rows change in place and never move: what would appear, vanish or move is
  // counted, and shown when asked for.
  const refreshRows = async keys => {
    if (keys.length > 100) { // as after the first check: too much to follow with the eye
      keys.forEach(key => waiting.add(key));
      keys = [];
    }
    const url = new URL(base + listURL(), location.href);
    const query = new URLSearchParams(url.search);
    keys.forEach(key => query.append('c', key));
    const part = await fetchPart(base + '/containers/rows?' + query);
    if (!part) return;
    for (const id of ['summary', 'chips']) {
      const now = document.getElementById(id), next = part.getElementById(id);
      if (now && next && now.innerHTML !== next.innerHTML) now.innerHTML = next.innerHTML;
    }
    const next = new Map($$('.row', part).map(row => [row.dataset.key, row]));
    const told = [];
    for (const key of keys) {
      const row = $$('.row').find(row => row.dataset.key === key), fresh = next.get(key);
      if (!row || !fresh) {
        if (row || fresh) waiting.add(key);
        continue;
      }
      if (row.textContent === fresh.textContent) continue;
      const kindBefore = $('.kind', row)?.className, kindAfter = $('.kind', fresh)?.className;
      if (kindBefore !== kindAfter) waiting.add(key);
      const box = $('input', row), focus = row.contains(document.activeElement) && document.activeElement.className;
      fresh.className = row.className;
      $('input', fresh).checked = box.checked;
      row.replaceWith(document.adoptNode(fresh));
      fresh.classList.add('changed');
      if (focus === 'name') $('.name', fresh).focus({ preventScroll: true });
      told.push($('.name', fresh).textContent + ': ' + $('.tags', fresh).textContent + ' ' + ($('.kind', fresh)?.textContent || 'up to date'));
    }
    behind(waiting.size);
    if (told.length) say(told.length > 3 ? told.length + ' containers changed' : told.join('. '));
  };
  const refreshContainer = async now => {
    const part = await fetchPart(location.pathname);
    const next = part && $('.container', part);
    if (!next) return;
    const changeNow = $('#change', now), changeNext = $('#change', next);
    if (changeNow.textContent !== changeNext.textContent) {
      changeNow.replaceWith(document.adoptNode(changeNext));
      changeNext.classList.add('changed');
      say(changeNext.textContent);
    }
  };
})();
