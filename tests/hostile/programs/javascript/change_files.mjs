// Nothing outside of a program's own directory can be made, changed or removed.

import fs from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import v8 from 'node:v8';

async function attempts(ways) {
  const worked = [];
  for (const [name, way] of Object.entries(ways)) {
    try {
      if (await way()) worked.push(name);
    } catch {}
  }
  return { tried: Object.keys(ways).length, worked };
}

const done = (act) => async () => (await act()) ?? true;

const ways = (folder) => ({
  write: done(() => fs.writeFileSync(`${folder}/kept`, 'x')),
  append: done(() => fs.appendFileSync(`${folder}/kept`, 'x')),
  make: done(() => fs.writeFileSync(`${folder}/new`, 'x', { flag: 'wx' })),
  promises: done(() => fs.promises.writeFile(`${folder}/new`, 'x')),
  open: done(() => fs.writeSync(fs.openSync(`${folder}/kept`, 'r+'), 'x')),
  unnamed: done(() => fs.openSync(folder, fs.constants.O_WRONLY | 0o20200000)),
  stream: done(() => new Promise((resolve, reject) => fs.createWriteStream(`${folder}/new`).on('error', reject).on('open', resolve))),
  truncate: done(() => fs.truncateSync(`${folder}/kept`)),
  remove: done(() => fs.unlinkSync(`${folder}/kept`)),
  'remove folder': done(() => fs.rmdirSync(`${folder}/empty`)),
  'remove tree': done(() => fs.rmSync(folder, { recursive: true })),
  'make folder': done(() => fs.mkdirSync(`${folder}/new`)),
  rename: done(() => fs.renameSync(`${folder}/kept`, `${folder}/new`)),
  'rename out': done(() => fs.renameSync(`${folder}/kept`, 'taken')),
  'rename in': done(() => fs.writeFileSync('mine', 'x') ?? fs.renameSync('mine', `${folder}/new`)),
  'copy in': done(() => fs.writeFileSync('mine', 'x') ?? fs.copyFileSync('mine', `${folder}/new`)),
  'symbolic link': done(() => fs.symlinkSync('/etc/passwd', `${folder}/new`)),
  'hard link in': done(() => fs.writeFileSync('mine', 'x') ?? fs.linkSync('mine', `${folder}/new`)),
  socket: () => new Promise((resolve, reject) => net.createServer().on('error', reject).listen(`${folder}/socket`, () => resolve(true))),
  mode: done(() => fs.chmodSync(`${folder}/kept`, 0o777)),
  'mode of folder': done(() => fs.chmodSync(folder, 0o777)),
  owner: done(() => fs.chownSync(`${folder}/kept`, 12345, 12345)),
  'owner of link': done(() => fs.lchownSync(`${folder}/kept`, 12345, 12345)),
  times: done(() => fs.utimesSync(`${folder}/kept`, 0, 0)),
  database: done(() => new DatabaseSync(`${folder}/new.db`).exec('create table t (x)')),
  temporary: done(() => fs.mkdtempSync(`${folder}/`)),
  'heap snapshot': done(() => v8.writeHeapSnapshot(`${folder}/new`)),
  report: () => process.report.writeReport(`${folder}/new`) && fs.existsSync(`${folder}/new`),
  SDK: done(() => fs.appendFileSync(fileURLToPath(import.meta.resolve('inferlet')), 'x')),
  Node: done(() => fs.appendFileSync(process.execPath, 'x')),
  system: done(() => fs.writeFileSync('/etc/pie-hostile', 'x')),
  'shared memory': done(() => fs.writeFileSync('/dev/shm/pie-hostile', 'x')),
  'core pattern': done(() => fs.writeFileSync('/proc/sys/kernel/core_pattern', 'x')),
  "engine's out-of-memory score": done(() => fs.writeFileSync(`/proc/${process.ppid}/oom_score_adj`, '1000')),
});

export async function main(input) {
  return await attempts(ways(input.folder));
}
