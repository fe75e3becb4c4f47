// Files: opened, dropped and saved; samples are fetched on demand.
import { canvas } from './canvas.js';
import { unpacked } from './unpack.js';

function save(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.slice(name.lastIndexOf('/') + 1);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // by then the browser has taken it
}

const kTypes = { svg: 'image/svg+xml', html: 'text/html', json: 'application/json', csv: 'text/csv' };
const typeOf = (name) => kTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain';

export const saveBytes = (name, bytes) => save(name, new Blob([bytes], { type: typeOf(name) }));
export const saveCanvas = (name) => canvas.toBlob((blob) => blob !== null && save(name, blob));

export class Files {
  #engine;
  #loop;
  #chooser = document.getElementById('file');

  constructor(engine, loop) {
    this.#engine = engine;
    this.#loop = loop;
    this.#chooser.addEventListener('change', () => {
      this.open([...this.#chooser.files]);
      this.#chooser.value = ''; // the same file may be chosen again
    });
    window.addEventListener('dragover', (event) => {
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    });
    window.addEventListener('drop', (event) => {
      event.preventDefault();
      this.open([...event.dataTransfer.files]);
    });
  }

  ask() {
    this.#chooser.click();
  }

  async open(files) {
    for (const file of files) {
      try {
        this.#engine.call('file_given', file.name, await unpacked(file));
      } catch (error) {
        this.#engine.call('file_failed', file.name, error.message);
      }
      this.#loop.wake();
    }
  }

  async fetchSample(name) {
    try {
      const response = await fetch(new URL(`../samples/${encodeURIComponent(name)}.json.gz`, import.meta.url));
      if (!response.ok) throw new Error(`the server answers ${response.status}`);
      this.#engine.call('sample_given', name, await unpacked(await response.blob()));
    } catch (error) {
      const message = error instanceof TypeError ? "can't be fetched: no connection?" : error.message;
      this.#engine.call('sample_failed', name, message);
    }
    this.#loop.wake();
  }
}
