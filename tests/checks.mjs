// Checks that run in one process of node: says which passed, and writes it in the form of Catch2, in which tests/report.py
// counts each of them.
import { writeFileSync } from 'node:fs';

const kEscapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (one) => kEscapes[one]).replace(/[^\t\n\x20-\ufffd]/g, '?');

// A check that throws this can't be made here; why is said.
export class Skipped extends Error {}

export class Report {
  #cases = [];

  get failed() {
    return this.#cases.filter((one) => one.fault !== '').length;
  }

  // Runs a check, which may answer with words about what it found. `more`: further words where it fails.
  async run(name, check, more = () => '') {
    const began = performance.now();
    let fault = '', said = '', skipped = false;
    try {
      said = (await check()) ?? '';
    } catch (error) {
      skipped = error instanceof Skipped;
      if (skipped) said = error.message;
      else fault = (error?.stack ?? String(error)) + more();
    }
    const seconds = (performance.now() - began) / 1000;
    this.#cases.push({ name, seconds, fault, skipped });
    if (fault === '') console.log(`${skipped ? 'skipped' : 'passed'}: ${name}${said === '' ? '' : ': ' + said} (${seconds.toFixed(1)} s)`);
    else console.log(`FAILED: ${name} (${seconds.toFixed(1)} s)\n${fault}`);
  }

  write(path) {
    if (path === '') return;
    const cases = this.#cases.map(({ name, seconds, fault, skipped }) =>
      `  <TestCase name="${escaped(name)}">\n` + (fault === '' ? '' : `    <Failure>${escaped(fault)}</Failure>\n`) +
      `    <OverallResult success="${fault === ''}" skips="${Number(skipped)}" durationInSeconds="${seconds.toFixed(3)}"/>\n` +
      '  </TestCase>\n');
    const skips = this.#cases.filter((one) => one.skipped).length;
    const { failed } = this;
    const sums =
      `  <OverallResults successes="${cases.length - failed - skips}" failures="${failed}" expectedFailures="0" skips="${skips}"/>\n`;
    writeFileSync(path, `<?xml version="1.0" encoding="UTF-8"?>\n<Catch2TestRun name="checks">\n${cases.join('')}${sums}</Catch2TestRun>\n`);
  }
}
