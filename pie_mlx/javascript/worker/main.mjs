/** A Node worker: waits for its launch, runs the program, says how it ended, exits. */

import process from 'node:process';
import { errorFromCode } from '../inferlet/errors.mjs';
import '../inferlet/index.mjs'; // while nobody waits for it
import { attach } from '../link/host.mjs';
import { Run } from './run.mjs';
import { useStreams } from './streams.mjs';

const LINK = 3;

const link = attach(LINK, (code, kind, message, hint, details) => {
  const error = errorFromCode(code, message, hint, details);
  if (!code) Object.defineProperty(error, 'name', { value: kind });
  return error;
});
process.removeAllListeners('warning'); // about features of Node that are not the program's choice
useStreams(link);
link.onLaunch = (fields) => new Run(link, fields).begin();
