/**
 * Takes what is marked `@internal` out of declarations: `node strip_internal.mjs TYPESCRIPT FILE...`. Constructors of
 * such classes become private, so that programs use what returns the objects.
 */

import fs from 'node:fs';
import { createRequire } from 'node:module';

const [, , typescript, ...files] = process.argv;
const ts = createRequire(import.meta.url)(typescript);

for (const file of files) {
  const text = fs.readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const cuts = [];
  for (const statement of source.statements) {
    if (isInternal(statement)) cuts.push([statement, '']);
    else if (ts.isClassDeclaration(statement)) {
      for (const member of statement.members.filter(isInternal)) {
        cuts.push([member, ts.isConstructorDeclaration(member) ? '\n    private constructor();' : '']);
      }
    }
  }
  let left = text;
  for (const [node, instead] of cuts.reverse()) left = left.slice(0, node.pos) + instead + left.slice(node.end);
  fs.writeFileSync(file, left);
}

function isInternal(node) {
  return ts.getJSDocTags(node).some((tag) => tag.tagName.text === 'internal');
}
