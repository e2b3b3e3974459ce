/** What `pie check` starts in the walls: links the modules of a program without executing them, and prints what is wrong. */

import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import vm from 'node:vm';
import { syntaxLine } from './syntax.mjs';
import { stripped } from './types.mjs';

const [home, main, entry] = process.argv.slice(2);
const SDK = ['inferlet', '@pie-project/inferlet'];
const own = new Map();

/** A module of the program, by its path in it. */
function ownModule(name) {
  if (own.has(name)) return own.get(name);
  const text = fs.readFileSync(path.join(home, name), 'utf8');
  const source = name.endsWith('ts') ? stripped(name, text) : text;
  let found;
  try {
    found = new vm.SourceTextModule(source, { identifier: name });
  } catch (error) {
    const line = syntaxLine(source, error.message);
    throw new Error(`${name}${line ? `:${line}` : ''}: ${error.message}`);
  }
  found.source = source;
  own.set(name, found);
  return found;
}

function standIn(names) {
  return new vm.SyntheticModule([...new Set(names)], () => {});
}

async function linked(specifier, importer) {
  if (SDK.includes(specifier)) return standIn(Object.keys(await import('../inferlet/index.mjs')));
  if (isBuiltin(specifier)) return standIn(Object.keys(await import(specifier)));
  if (!specifier.startsWith('.') || /\.json$/.test(specifier)) return standIn(wanted(specifier, importer.source));
  const name = path.join(path.dirname(importer.identifier), specifier);
  if (!fs.existsSync(path.join(home, name))) throw new Error(`${importer.identifier}: there is no module '${specifier}'`);
  return ownModule(name);
}

/** What a module imports from a library, whose code is not looked at. */
function wanted(specifier, source) {
  const names = ['default'];
  for (const [, braces, from] of source.matchAll(/\{([^{}]*)\}\s*from\s*['"]([^'"\n]+)['"]/g))
    if (from === specifier) names.push(...braces.split(',').map((one) => one.trim().split(/\s+as\s+/)[0]).filter(Boolean));
  return names;
}

async function finding() {
  const module = ownModule(main);
  try {
    await module.link(linked);
  } catch (error) {
    return error instanceof SyntaxError ? `${main}: ${error.message}` : error.message;
  }
  const names = Object.keys(module.namespace);
  if (names.includes(entry) || names.includes('handle')) return '';
  const isCommon = /\bmodule\.exports\b|\bexports\.\w|\brequire\(/.test(module.source);
  return isCommon ? `${main}: it is CommonJS, not an ES module` : `${main}: no 'export async function ${entry}(input)'`;
}

const found = await finding().catch((error) => error.message);
process.stdout.write(JSON.stringify(found ? [found] : []));
