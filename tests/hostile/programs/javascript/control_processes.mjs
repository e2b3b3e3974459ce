// Other processes can neither be started nor seen, stopped, slowed or read.

import child from 'node:child_process';
import cluster from 'node:cluster';
import fs from 'node:fs';
import os from 'node:os';
import { WASI } from 'node:wasi';
import { Worker } from 'node:worker_threads';

async function attempts(ways) {
  const worked = [];
  for (const [name, way] of Object.entries(ways)) {
    try {
      if (await way()) worked.push(name);
    } catch {}
  }
  return { tried: Object.keys(ways).length, worked };
}

function started(process_) {
  return new Promise((resolve, reject) => process_.on('error', reject).on('exit', () => resolve(true)));
}

export async function main({ pid }) {
  return await attempts({
    kill: () => process.kill(pid, 'SIGTERM'),
    'is it there': () => process.kill(pid, 0),
    'kill a group': () => process.kill(-pid, 'SIGTERM'),
    'kill everything': () => process.kill(-1, 0),
    'kill the parent': () => process.kill(process.ppid, 'SIGTERM'),
    debug: () => process._debugProcess(pid) ?? true,
    'memory file': () => fs.openSync(`/proc/${pid}/mem`),
    environment: () => fs.readFileSync(`/proc/${pid}/environ`),
    'command line': () => fs.readFileSync(`/proc/${pid}/cmdline`),
    descriptors: () => fs.readdirSync(`/proc/${pid}/fd`),
    list: () => fs.readdirSync('/proc').some((name) => /^\d+$/.test(name)),
    'slow down': () => os.setPriority(pid, 19) ?? true,
    'look at its priority': () => os.getPriority(pid) + 100,
    spawn: () => started(child.spawn('true')),
    'spawn this Node': () => started(child.spawn(process.execPath, ['-e', ''])),
    spawnSync: () => child.spawnSync('true').error === undefined,
    exec: () => started(child.exec('true')),
    execFileSync: () => child.execFileSync('true') ?? true,
    fork: () => started(child.fork(import.meta.filename)),
    cluster: () => started(cluster.fork()),
    worker: () => new Worker('', { eval: true }),
    WASI: () => new WASI({ version: 'preview1', preopens: { '/': '/' } }),
    'another program': () => process.execve('/bin/true', ['true'], {}),
    'spawn binding': () => new (process.binding('process_wrap').Process)().spawn({ file: 'true', args: ['true'] }) === 0,
    'spawn_sync binding': () => process.binding('spawn_sync').spawn({ file: 'true', args: ['true'], stdio: [] }).pid > 0,
    users: () => process.setuid(12345) ?? true,
  });
}
