import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { createAuthority } from '../certificate-authority'

/**
 * The targets of `bench monitors` and `bench tls-scan`, in a separate process: an HTTPS server on all of 127.0.0.0/8. With `--silent`, it
 * accepts connections but never responds. With `--old`, it accepts TLS 1.0 and every cipher suite that the runtime knows.
 */
export function addCheckTargets(bench: Command): void {
  bench
    .command('check-targets', { hidden: true })
    .option('--silent', 'Never respond')
    .option('--old', 'Accept old versions of TLS')
    .action(async ({ silent, old }: { silent?: boolean; old?: boolean }) => {
      const { port, stop } = silent ? silentServer() : old ? await oldServer() : httpsServer()
      console.log(`listening on https://127.0.0.1:${port}`)
      await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
      stop()
    })
}

// Listening on the whole loopback network is only possible with the wildcard address. Other addresses are rejected.
const anyAddress = '0.0.0.0'
const dayMs = 86_400_000
const isLocal = (address: string | undefined): boolean => /^(::ffff:)?127\./.test(address ?? '')

/** A certificate with its key. */
function issued() {
  const now = systemClock.now()
  return createAuthority('bench', now).issue(['localhost', '127.0.0.1'], now - dayMs, now + dayMs)
}

async function oldServer() {
  const server = createServer({ ...issued(), minVersion: 'TLSv1', ciphers: 'ALL' }, (request, response) => {
    response.statusCode = isLocal(request.socket.remoteAddress) ? 200 : 403
    response.end()
  })
  // Clients that scan end most handshakes.
  server.on('error', () => {}).on('clientError', (_, socket) => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, anyAddress, resolve))
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() }
}

function httpsServer() {
  const server = Bun.serve({
    hostname: anyAddress,
    port: 0,
    tls: issued(),
    fetch: (request, own) =>
      isLocal(own.requestIP(request)?.address) ? new Response('fine') : new Response(null, { status: 403 }),
  })
  return { port: server.port, stop: () => void server.stop(true) }
}

function silentServer() {
  const server = Bun.listen({
    hostname: anyAddress,
    port: 0,
    socket: {
      open(socket) {
        if (!isLocal(socket.remoteAddress)) socket.terminate()
      },
      data() {},
      error() {},
    },
  })
  return { port: server.port, stop: () => server.stop(true) }
}
