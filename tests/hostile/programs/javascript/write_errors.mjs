// An engine waits for nobody who should read what programs write to standard error.

export async function main({ lines }) {
  for (let line = 0; line < lines; line++) console.error('x'.repeat(999));
  return 'written';
}
