// What is printed on standard error stops no engine whose own standard error is not read.

export async function main({ lines }) {
  for (let line = 0; line < lines; line++) console.error('x'.repeat(999));
  return 'printed';
}
