// Keys, tokens, settings and logs of the engine are not to be had.

import fs from 'node:fs';
import v8 from 'node:v8';

const NAMES = 'config.toml hostile.toml authorized_users.toml run/engine.json run/lock logs/engine.log'.split(' ');

function look(path) {
  try {
    return fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

export async function main({ home, secret }) {
  const places = [...NAMES, '', 'run', 'logs', 'programs'].map((name) => `${home}/${name}`);
  const named = Object.entries(process.env).filter(([, value]) => value.includes(secret));
  const read = places.filter(look);
  const told = [...process.argv, ...process.execArgv].filter((word) => word.includes(secret));
  const report = JSON.stringify(process.report.getReport().environmentVariables ?? {}).includes(secret) ? ['report'] : [];
  return {
    tried: Object.keys(process.env).length + places.length + process.execArgv.length + Object.keys(v8.getHeapStatistics()).length,
    worked: [...named.map(([name]) => name), ...read, ...told, ...report],
  };
}
