import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { queryOctets } from './served-zone'
import { freePort } from './free-port'

/** A third-party name server that serves one zone from a file. */
export interface OtherServer {
  port: number
  stop(): Promise<void>
}

/** Starts BIND with a zone. @param name without the trailing dot */
export const startBind = (name: string, zoneFile: string): Promise<OtherServer> =>
  startServer(name, zoneFile, (folder, port) => {
    const text = `options {
      directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
      listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; minimal-responses yes; zero-no-soa-ttl no; notify no; dnssec-validation no; empty-zones-enable no;
    };
    controls { };
    zone "${name}" { type primary; file "${folder}/zone"; check-names ignore; };`
    writeFileSync(join(folder, 'named.conf'), text)
    return ['/usr/sbin/named', '-f', '-c', join(folder, 'named.conf')]
  })

/** Starts Knot with a zone. */
export const startKnot = (name: string, zoneFile: string): Promise<OtherServer> =>
  startServer(name, zoneFile, (folder, port) => {
    const text = `server:
    rundir: "${folder}"
    listen: [ "127.0.0.1@${port}" ]
database:
    storage: "${folder}/db"
zone:
  - domain: ${name}
    storage: "${folder}"
    file: zone
    semantic-checks: off
`
    writeFileSync(join(folder, 'knot.conf'), text)
    return ['/usr/sbin/knotd', '-c', join(folder, 'knot.conf')]
  })

/**
 * Starts a server in its own folder on a free port, and waits until it answers for the zone.
 * @param prepare writes its configuration next to the file `zone`, and returns the command
 */
export async function startServer(
  name: string,
  zoneFile: string,
  prepare: (folder: string, port: number) => string[],
): Promise<OtherServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-dns-'))
  chmodSync(folder, 0o777)
  mkdirSync(join(folder, 'db'))
  writeFileSync(join(folder, 'zone'), zoneFile)
  const port = await freePort()
  const run = Bun.spawn(prepare(folder, port), { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  const stop = async () => {
    run.kill('SIGKILL')
    await run.exited
    rmSync(folder, { recursive: true, force: true })
  }
  for (let tries = 0; tries < 100 && !ended(run); tries++) {
    const answer = await queryUdp(port, queryOctets(`${name}.`, 'SOA'), 100)
    // The low bits of the second word are the RCODE.
    if (answer && (answer[3]! & 15) === 0) return { port, stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`The server did not answer for ${name}: ${(await output).join('\n')}`)
}

const ended = (run: Subprocess) => run.exitCode !== null

/** Sends octets over UDP and returns the response, or null on a timeout. */
export async function queryUdp(port: number, octets: Uint8Array, ms = 2000): Promise<Uint8Array | null> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array | null>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port },
    socket: { data: (_, answer) => resolve(Uint8Array.from(answer)), error() {} },
  })
  socket.send(octets)
  const timer = setTimeout(() => resolve(null), ms)
  const answer = await promise
  clearTimeout(timer)
  socket.close()
  return answer
}
