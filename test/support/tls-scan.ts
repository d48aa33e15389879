import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { AddressFacts, ScanProtocol } from '../../src/checks/tls-probe/facts'
import { scanAddress } from '../../src/checks/tls-probe/scan'
import { checkContext } from './check-context'

/** Scans a server on this machine, which is called a.test. @param connectionMs limit of each connection */
export async function scanLocal(
  port: number,
  settings: { protocol?: ScanProtocol; servername?: string | null; connectionMs?: number; signal?: AbortSignal } = {},
): Promise<AddressFacts> {
  // Only servers that never answer reach this limit.
  const { protocol = 'tls', servername = 'a.test', connectionMs = 30_000 } = settings
  const vetted = { address: '127.0.0.1', family: 4 as const, host: 'a.test', port, listed: false }
  const signal = settings.signal ?? new AbortController().signal
  return await scanAddress({ vetted, protocol, servername }, checkContext({ signal }), { connectionMs, scanMs: 120_000 })
}

/** Names of accepted suites by version, sorted. */
export function suitesFound(facts: AddressFacts): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(facts.versions).flatMap(([version, found]) =>
      found.status === 'offered' ? [[version, found.suites.map(one => one.name).sort()]] : [],
    ),
  )
}

/** A server that talks with each connection as it likes. */
export interface ScriptedTls {
  port: number
  /** How many connections there were. */
  all(): number
  stop(): void
}

/** @param address where to listen */
export async function scriptedTls(talk: (socket: Socket) => void, address = '127.0.0.1'): Promise<ScriptedTls> {
  const open = new Set<Socket>()
  let all = 0
  const server = createServer(socket => {
    open.add(socket)
    all++
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    talk(socket)
  })
  await new Promise<void>(resolve => server.listen(0, address, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    all: () => all,
    stop() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
