// No network can be reached, not even this machine's own.

import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import inspector from 'node:inspector';
import net from 'node:net';
import os from 'node:os';
import tls from 'node:tls';

async function attempts(ways) {
  const worked = [];
  for (const [name, way] of Object.entries(ways)) {
    try {
      if (await way()) worked.push(name);
    } catch {}
  }
  return { tried: Object.keys(ways).length, worked };
}

function event(emitter, name) {
  return new Promise((resolve, reject) => emitter.on('error', reject).on(name, () => resolve(true)));
}

function sent(kind, port, address) {
  const socket = dgram.createSocket(kind);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.send('x', port, address, (error) => (error ? reject(error) : resolve(true)));
  });
}

function listening(server, where) {
  return new Promise((resolve, reject) => server.on('error', reject).listen(where, () => resolve(true)));
}

export async function main({ port, socket }) {
  const url = `http://127.0.0.1:${port}/`;
  return await attempts({
    connection: () => event(net.connect(port, '127.0.0.1'), 'connect'),
    IPv6: () => event(net.connect(port, '::1'), 'connect'),
    name: () => event(net.connect(port, 'localhost'), 'connect'),
    TLS: () => event(tls.connect(port, '127.0.0.1'), 'connect'),
    datagram: () => sent('udp4', port, '127.0.0.1'),
    'datagram, IPv6': () => sent('udp6', port, '::1'),
    listening: () => listening(net.createServer(), { port: 0, host: '127.0.0.1' }),
    'listening everywhere': () => listening(net.createServer(), { port: 0 }),
    fetch: () => fetch(url),
    'http.request': () => event(http.get(url), 'response'),
    'HTTP/2': () => event(http2.connect(url), 'connect'),
    websocket: () =>
      new Promise((resolve, reject) => {
        const opened = new WebSocket(url.replace('http', 'ws'));
        opened.onopen = () => resolve(true);
        opened.onerror = reject;
      }),
    lookup: () => dns.promises.lookup('localhost.localdomain.example'),
    resolver: () => dns.promises.resolve4('example.com'),
    interfaces: () => Object.keys(os.networkInterfaces()).length,
    'socket of the engine': () => event(net.connect(socket), 'connect'),
    'abstract socket': () => event(net.connect('\0pie-hostile'), 'connect'),
    'log of the system': () => event(net.connect('/dev/log'), 'connect'),
    'bus of the system': () => event(net.connect('/run/dbus/system_bus_socket'), 'connect'),
    'debugger': () => inspector.open(0, '127.0.0.1') ?? inspector.url(),
  });
}
