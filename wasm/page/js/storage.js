// Small texts that outlive the page, in localStorage; without its permission, as long as the page lives.

const kPrefix = 'recut/';
const kept = new Map();

export function load(name) {
  try {
    return localStorage.getItem(kPrefix + name);
  } catch {
    return kept.get(name) ?? null;
  }
}

export function store(name, text) {
  try {
    localStorage.setItem(kPrefix + name, text);
  } catch {
    kept.set(name, text);
  }
}

export function forget(name) {
  kept.delete(name);
  try {
    localStorage.removeItem(kPrefix + name);
  } catch {
    // Nothing was stored there.
  }
}
