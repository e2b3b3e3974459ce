/** Finds the line of a syntax error, which Node does not tell for modules. */

import vm from 'node:vm';

/** The line in a module's `source` where V8 finds the error with this `message`; undefined if it cannot be found. */
export function syntaxLine(source, message) {
  try {
    new vm.Script(`(async () => {${asScript(source)}\n})`, { filename: 'module' });
  } catch (error) {
    const found = /^module:(\d+)\n/.exec(error.stack);
    if (found !== null && error.message === message) return Number(found[1]);
  }
  return undefined;
}

/** The text with imports and exports blanked, line by line as before. */
function asScript(source) {
  const blank = (text) => text.replace(/[^\n]/g, ' ');
  return source
    .replace(/^[ \t]*import\s*(?:[\w*$\s{},]+from\s*)?(['"])[^'"\n]*\1[^\n;]*;?/gm, blank)
    .replace(/^[ \t]*export\s*(?:\*|\{[^}]*\})[^;\n]*;?/gm, blank)
    .replace(/^([ \t]*)export\s+default\s/gm, (text, space) => `${space}void${' '.repeat(text.length - space.length - 4)}`)
    .replace(/^[ \t]*export\s(?=\s*(?:async|function|class|const|let|var)\b)/gm, blank)
    .replaceAll('import.meta', 'importMeta ');
}
