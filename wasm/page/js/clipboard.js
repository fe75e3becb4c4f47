// Copying and pasting. Pages may write to the clipboard during a key or click event, and read it only when the user
// pastes.

// For pages without a secure connection.
function copyByCommand(text) {
  const put = (event) => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put, { once: true });
  document.execCommand('copy');
  document.removeEventListener('copy', put);
}

export function copy(text) {
  if (!navigator.clipboard) return copyByCommand(text);
  navigator.clipboard.writeText(text).catch(() => copyByCommand(text));
}

// `openFiles(files)` is called where files were copied.
export function listenToPaste(engine, loop, openFiles) {
  window.addEventListener('paste', (event) => {
    event.preventDefault();
    if (event.clipboardData.files.length > 0) return openFiles(event.clipboardData.files);
    engine.call('paste', event.clipboardData.getData('text/plain'));
    loop.tick();
    loop.wake();
  });
}
