import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { authority } from '../authority'

/**
 * What the monitors of `bench monitors` check, in a process of its own: a server of HTTPS at all of 127.0.0.0/8; with `--silent` one that
 * takes connections and says nothing.
 */
export function addCheckTargets(bench: Command): void {
  bench
    .command('check-targets', { hidden: true })
    .option('--silent', 'say nothing')
    .action(async ({ silent }: { silent?: boolean }) => {
      const { port, stop } = silent ? silentServer() : httpsServer()
      console.log(`serves at https://127.0.0.1:${port}`)
      await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
      stop()
    })
}

// All addresses of the loopback network can only be had together with all others; those are turned away.
const everywhere = '0.0.0.0'
const dayMs = 86_400_000
const isLocal = (address: string | undefined): boolean => /^(::ffff:)?127\./.test(address ?? '')

function httpsServer() {
  const now = systemClock.now()
  const server = Bun.serve({
    hostname: everywhere,
    port: 0,
    tls: authority('bench', now).issue(['localhost', '127.0.0.1'], now - dayMs, now + dayMs),
    fetch: (request, own) =>
      isLocal(own.requestIP(request)?.address) ? new Response('fine') : new Response(null, { status: 403 }),
  })
  return { port: server.port, stop: () => void server.stop(true) }
}

function silentServer() {
  const server = Bun.listen({
    hostname: everywhere,
    port: 0,
    socket: {
      open(socket) {
        if (!isLocal(socket.remoteAddress)) socket.terminate()
      },
      data() {},
    },
  })
  return { port: server.port, stop: () => server.stop(true) }
}
