// Perfetto's trace processor, as ui.perfetto.dev runs it in a web worker: `node trace_processor.cjs FOLDER` answers the
// requests that come on standard input, each with its length in 4 bytes before it, with a stream of replies.
const fs = require('fs'), path = require('path'), vm = require('vm')
const folder = process.argv[2]
const read = (name) => fs.readFileSync(path.join(folder, path.basename(String(name))))
const { process: node } = globalThis

Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: function () {},
  XMLHttpRequest: class {
    open(method, name) {
      this.name = name
    }
    send() {
      this.status = 200
      this.response = Uint8Array.from(read(this.name)).buffer
    }
  },
  importScripts() {},
  location: { href: 'http://localhost/engine_bundle.js' },
  console: { ...console, log: console.error, warn: console.error },
})
globalThis.process = undefined // it must take this for a browser
vm.runInThisContext(read('engine_bundle.js').toString())
globalThis.process = node

const port = { postMessage: (reply) => fs.writeSync(1, reply) }
globalThis.onmessage({ data: port })
const input = fs.readFileSync(0)

function answer() {
  for (let place = 0; place < input.length; ) {
    const end = place + 4 + input.readUInt32LE(place)
    port.onmessage({ data: new Uint8Array(input.subarray(place + 4, end)) })
    place = end
  }
}
setImmediate(answer) // once its own start is over
