/** Starts a worker without the searches that Node makes for each module, a fifth of the start: ours are where they say. */

import fs from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const HOME = new URL('..', import.meta.url).href;

const hooks = registerHooks({
  resolve: (specifier, context, next) =>
    specifier.startsWith('.') && context.parentURL?.startsWith(HOME)
      ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url.startsWith(HOME)
      ? { source: fs.readFileSync(fileURLToPath(url), 'utf8'), format: 'module', shortCircuit: true }
      : next(url, context),
});
await import('./main.mjs');
hooks.deregister();
