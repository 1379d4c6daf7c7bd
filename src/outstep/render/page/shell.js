// What every page can do: find its data and words, make elements from text, and turn dark or light.
const data = (id) => {
  const block = document.getElementById(`data-${id}`);
  return block === null ? null : JSON.parse(block.textContent);
};
const words = data('words');
const number = new Intl.NumberFormat(document.documentElement.lang);

// A sentence of the catalogue; `{name}` stands for a value, `one|many` are two forms.
function say(key, values = {}) {
  let sentence = words[key];
  if (sentence.includes('|')) sentence = sentence.split('|')[values.n === 1 ? 0 : 1];
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === 'number' ? number.format(value) : value;
  });
}

// An element; what is given as text stays text. `on` holds listeners, everything else becomes an attribute.
function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// A button that copies a text.
function copier(text) {
  const button = el('button', { class: 'copy', type: 'button', title: say('copy') }, say('copy'));
  button.addEventListener('click', async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages opened from a file may not use the clipboard in every browser.
      const field = el('textarea', { class: 'unseen' });
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand('copy');
      field.remove();
    }
    button.textContent = say('copied');
    setTimeout(() => { button.textContent = say('copy'); }, 1500);
  });
  return button;
}

const THEME = 'outstep-theme';
function remembered(theme) {
  try {
    if (theme !== undefined) localStorage.setItem(THEME, theme);
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
};
function turn(theme) {
  document.documentElement.dataset.theme = theme;
  remembered(theme);
}
{
  const theme = remembered();
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  const button = document.getElementById('theme');
  if (button !== null) {
    button.hidden = false;
    button.addEventListener('click', () => turn(isDark() ? 'light' : 'dark'));
  }
}
