import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { createAuthority } from '../certificate-authority'

/**
 * The targets of `bench monitors`, in a separate process: an HTTPS server on all of 127.0.0.0/8. With `--silent`, it accepts
 * connections but never responds.
 */
export function addCheckTargets(bench: Command): void {
  bench
    .command('check-targets', { hidden: true })
    .option('--silent', 'Never respond')
    .action(async ({ silent }: { silent?: boolean }) => {
      const { port, stop } = silent ? silentServer() : httpsServer()
      console.log(`listening on https://127.0.0.1:${port}`)
      await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
      stop()
    })
}

// Listening on the whole loopback network is only possible with the wildcard address. Other addresses are rejected.
const anyAddress = '0.0.0.0'
const dayMs = 86_400_000
const isLocal = (address: string | undefined): boolean => /^(::ffff:)?127\./.test(address ?? '')

function httpsServer() {
  const now = systemClock.now()
  const server = Bun.serve({
    hostname: anyAddress,
    port: 0,
    tls: createAuthority('bench', now).issue(['localhost', '127.0.0.1'], now - dayMs, now + dayMs),
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
