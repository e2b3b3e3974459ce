// Private files of the person who runs the engine cannot be read.

import fs from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import vm from 'node:vm';

const require = createRequire(import.meta.url);

async function attempts(ways) {
  const worked = [];
  for (const [name, way] of Object.entries(ways)) {
    try {
      if (await way()) worked.push(name);
    } catch {}
  }
  return { tried: Object.keys(ways).length, worked };
}

function throughLink(file, link) {
  link(file, 'link');
  return fs.readFileSync('link', 'utf8');
}

function changed(file) {
  process.chdir(path.dirname(file));
  return fs.readFileSync(path.basename(file));
}

const ways = (file) => ({
  readFileSync: () => fs.readFileSync(file),
  'for writing': () => fs.readFileSync(fs.openSync(file, 'r+')),
  promises: () => fs.promises.readFile(file),
  open: async () => (await fs.promises.open(file)).readFile(),
  stream: async () => (await fs.createReadStream(file).toArray()).length,
  blob: async () => (await fs.openAsBlob(file)).text(),
  copy: () => fs.copyFileSync(file, 'copy') ?? fs.readFileSync('copy'),
  cp: () => fs.cpSync(file, 'copied') ?? fs.readFileSync('copied'),
  rename: () => throughLink(file, fs.renameSync),
  'symbolic link': () => throughLink(file, fs.symlinkSync),
  'hard link': () => throughLink(file, fs.linkSync),
  'changed directory': () => changed(file),
  'relative path': () => fs.readFileSync('../'.repeat(20) + file.slice(1)),
  URL: () => fs.readFileSync(new URL(`file://${file}`)),
  bytes: () => fs.readFileSync(Buffer.from(file)),
  import: () => import(file, { with: { type: 'json' } }),
  'import as code': () => import(file),
  fetch: () => fetch(`file://${file}`),
  require: () => require(file),
  'package.json': () => findPackageJSON(file),
  sqlite: () => new DatabaseSync(file, { readOnly: true }).prepare('select 1').all(),
  'sqlite, attached': () => new DatabaseSync(':memory:').exec(`attach '${file}' as k`) ?? true,
  'another realm': () => vm.runInNewContext('load(file)', { file, load: fs.readFileSync }),
  list: () => fs.readdirSync(path.dirname(file)),
  opendir: () => fs.opendirSync(path.dirname(file)).readSync(),
  glob: () => fs.globSync(`${path.dirname(file)}/*`).length,
  environment: () => process.loadEnvFile(file) ?? true,
  dlopen: () => process.dlopen({ exports: {} }, file) ?? true,
  'root of this process': () => fs.readFileSync(`/proc/self/root${file}`),
  'root of the engine': () => fs.readFileSync(`/proc/${process.ppid}/root${file}`),
  'environment of the engine': () => fs.readFileSync(`/proc/${process.ppid}/environ`),
  'memory of the engine': () => fs.openSync(`/proc/${process.ppid}/mem`),
  'binding of fs': () => process.binding('fs').readFileUtf8(file, 0),
  passwords: () => fs.readFileSync('/etc/passwd'),
});

export async function main(input) {
  return await attempts(ways(input.path));
}
