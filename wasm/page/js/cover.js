// The overlay over the canvas: loading progress, or a failure.

const at = (id) => document.getElementById(id);

export const megabytes = (bytes) => (bytes / 1e6).toFixed(1) + ' MB';

// `total` 0: unknown.
export function showProgress(loaded, total) {
  const bar = at('progress');
  if (total > 0) bar.value = Math.min(1, loaded / total);
  else bar.removeAttribute('value');
  at('loaded').textContent =
    total > 0 ? `${megabytes(loaded)} of ${megabytes(total)}` : `${megabytes(loaded)} loaded`;
}

export function showStarting() {
  at('progress').value = 1;
  at('loaded').textContent = 'Starting …';
}

export function uncover() {
  const cover = at('cover');
  cover.classList.add('gone');
  setTimeout(() => (cover.hidden = true), 200);
}

// Shows a message. `list`: missing features; `log`: the last output. `over`: the drawn canvas stays
// visible behind it. `afresh` is called before a start without the saved state.
export function showFailure({ title, message, list = [], log = '', over = false, retry = true, afresh = null }) {
  const cover = at('cover');
  cover.hidden = false;
  cover.classList.remove('gone');
  cover.classList.toggle('over', over);
  at('loading').hidden = true;
  at('failure').hidden = false;
  at('failure-title').textContent = title;
  at('failure-message').textContent = message;
  at('failure-list').replaceChildren(
    ...list.map((one) => Object.assign(document.createElement('li'), { textContent: one })),
  );
  at('failure-details').hidden = log === '';
  at('failure-log').textContent = log;
  at('failure-buttons').hidden = !retry;
  // The address keeps the state, so that reloading leads back to it.
  at('again').onclick = () => location.reload();
  at('afresh').hidden = afresh === null;
  at('afresh').onclick = () => {
    afresh();
    history.replaceState(null, '', location.pathname + location.search);
    location.reload();
  };
  at('again').focus();
}
