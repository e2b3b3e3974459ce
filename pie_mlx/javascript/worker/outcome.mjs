/** How the program ended, as the engine is told. */

import { InvalidTypeError, PieError, ProcessError } from '../inferlet/errors.mjs';

const VALUE_LIMIT_BYTES = 1_000_000;

/** The frame for a value that main returned. Throws what says why the value cannot be sent. */
export function returned(value) {
  if (value === undefined || value === null) return ['ended'];
  const [text, format] = typeof value === 'string' ? [value, 'text'] : [asJson(value), 'json'];
  const size = Buffer.byteLength(text);
  if (size > VALUE_LIMIT_BYTES) {
    const message = `return value is ${size} bytes, the limit is ${VALUE_LIMIT_BYTES}`;
    throw new ProcessError(message, { hint: 'use session.sendFile' });
  }
  return ['ended', text.toWellFormed(), format];
}

/** The frame for what ended the program. */
export function failed(error) {
  try {
    return told(error);
  } catch {
    return ['ended', '', 'none', ['', 'Error', 'thrown: something that cannot be read']];
  }
}

function told(error) {
  if (error instanceof PieError)
    return ['ended', '', 'none', [error.code, error.name, plain(error.message), plain(error.hint), error.details]];
  const isError = error instanceof Error;
  return ['ended', '', 'none', ['', isError ? error.name : 'Error', plain(isError ? error.message : thrown(error))]];
}

function plain(text) {
  return String(text).toWellFormed();
}

/** The message for something thrown that is no Error. */
function thrown(value) {
  return typeof value === 'string' ? value : `thrown: ${typeof value === 'object' ? asJson(value) : String(value)}`;
}

function asJson(value) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw refused(value, error.message);
  }
  if (text === undefined) throw refused(value, 'JSON cannot hold it');
  return text;
}

function refused(value, why) {
  return new InvalidTypeError(`return value of type ${typeof value}: ${why}`, { hint: 'return text or what JSON can hold' });
}
