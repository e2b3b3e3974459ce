/** What `pie doctor` starts in the walls: tries what is forbidden, and prints what it found. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import module from 'node:module';
import net from 'node:net';
import path from 'node:path';

const [secret, own, port, missing] = process.argv.slice(2);

function connected() {
  return new Promise((resolve, reject) => net.connect(Number(port), '127.0.0.1', resolve).on('error', reject));
}

function started() {
  const { error } = spawnSync(process.execPath, ['--version']);
  if (error) throw error;
}

/** What programs may do. */
function work() {
  const file = path.join(own, 'file');
  fs.writeFileSync(file, 'x');
  fs.renameSync(file, `${file}.2`);
  module.stripTypeScriptTypes('let works: boolean = true');
}

async function failure(attempt) {
  try {
    await attempt();
  } catch (error) {
    return error.message;
  }
  return '';
}

const ATTEMPTS = {
  'reading files': () => fs.readFileSync(secret),
  'writing files': () => fs.writeFileSync(path.join(path.dirname(secret), 'planted'), 'x'),
  network: connected,
  'starting processes': started,
};

const found = { stopped: [], open: [] };
for (const [name, attempt] of Object.entries(ATTEMPTS)) found[(await failure(attempt)) ? 'stopped' : 'open'].push(name);
const broken = await failure(work);
found.allowed_works = !broken;
found.reason = [missing, broken].filter(Boolean).join('; ');
process.stdout.write(JSON.stringify(found), () => process.exit(0));
