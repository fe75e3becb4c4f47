// The hidden text input that has the focus while a field on the canvas takes the keyboard. It brings on-screen
// keyboards, input methods, dictation and the browser's paste menu.

// Text to delete, so that keyboards without key events can report a deletion.
const kFilling = '  ';

export class TextLine {
  element = document.getElementById('line');
  label = '';
  #engine;
  #loop;
  #mirror;

  constructor(engine, loop, mirror) {
    this.#engine = engine;
    this.#loop = loop;
    this.#mirror = mirror;
    this.#empty();
    this.element.addEventListener('compositionend', (event) => this.#type(event.data));
    this.element.addEventListener('beforeinput', (event) => this.#before(event));
    this.element.addEventListener('input', (event) => {
      if (event.isComposing) return;
      if (event.inputType === 'insertText' && event.data) this.#type(event.data);
      this.#empty();
    });
  }

  // The program's field, in CSS pixels; hidden where there is none.
  show(shown, label, left, top, width, height) {
    const line = this.element;
    this.label = shown ? label : '';
    line.dataset.field = this.label;
    if (!shown) {
      if (document.activeElement === line) document.getElementById('screen').focus({ preventScroll: true });
      line.tabIndex = -1;
      return;
    }
    line.setAttribute('aria-label', label.slice(label.indexOf('/') + 1));
    Object.assign(line.style, { left: left + 'px', top: top + 'px', width: width + 'px', height: height + 'px' });
    if (document.activeElement !== line) line.focus({ preventScroll: true });
  }

  // Tab moves to the field's neighbour in the mirror.
  leave(event) {
    event.preventDefault();
    this.#mirror.focusNeighbour(this.label, event.shiftKey ? -1 : 1);
  }

  #before(event) {
    const press = { deleteContentBackward: 'Backspace', deleteContentForward: 'Delete', insertLineBreak: 'Enter' }[event.inputType];
    if (press === undefined || event.isComposing) return;
    event.preventDefault();
    this.#engine.call('key', press, 1, 0);
    this.#engine.call('key', press, 0, 0);
    this.#loop.wake();
  }

  #type(text) {
    if (text) this.#engine.call('text', text);
    this.#empty();
    this.#loop.wake();
  }

  #empty() {
    this.element.value = kFilling;
    this.element.setSelectionRange(kFilling.length, kFilling.length);
  }
}
