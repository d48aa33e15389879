import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import { NameServer } from '../../features/dns/server/name-server'
import type { Threads } from '../../hub/run'
import { benchRecords, benchZoneFile, servedBenchZone, zoneName } from './dns-zone'
import { startServer, type ServerProcess } from './child-processes'

/** A name server to measure. */
export interface Candidate {
  name: string
  isInstalled(): boolean
  /** Starts it with the benchmark zone. @param folder for its files */
  start(folder: string, port: number, names: number): Promise<RunningServer>
}

/** A started server, which may not respond yet. */
export interface RunningServer {
  port: number
  stop(): Promise<void>
  /** Whether it exited by itself. */
  hasExited?(): boolean
  /** The end of its log, after it stopped. */
  log?(): Promise<string>
}

// Servers are installed in folders that are not on the PATH of users.
const searchPath = { PATH: '/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin' }
const program = (name: string) => Bun.which(name, searchPath)
const powerDnsSchema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

/** The built-in server, followed by those to compare it with. */
export const candidates: readonly Candidate[] = [
  {
    name: 'bailiwick',
    isInstalled: () => true,
    start: (_, __, names): Promise<ServerProcess> => startServer(['bench', 'name-server', String(names)]),
  },
  {
    name: 'powerdns',
    isInstalled: () => program('pdns_server') !== null && existsSync(powerDnsSchema),
    async start(folder, port, names) {
      const file = join(folder, 'pdns.sqlite3')
      const db = new Database(file)
      db.run(readFileSync(powerDnsSchema, 'utf8'))
      db.run(`insert into domains (id, name, type) values (1, '${zoneName}', 'NATIVE')`)
      const insert = db.prepare('insert into records (domain_id, name, type, ttl, content, auth) values (1, ?, ?, ?, ?, 1)')
      db.run('begin')
      // PowerDNS stores names without the trailing dot.
      for (const { name, type, ttl, content } of benchRecords(names)) insert.run(name, type, ttl, content.replaceAll('. ', ' '))
      db.run('commit')
      db.close()
      const settings = [
        'launch=gsqlite3',
        `gsqlite3-database=${file}`,
        'local-address=127.0.0.1',
        `local-port=${port}`,
        `socket-dir=${folder}`,
        'security-poll-suffix=',
      ]
      writeFileSync(join(folder, 'pdns.conf'), `${settings.join('\n')}\n`)
      return spawn([program('pdns_server')!, `--config-dir=${folder}`, '--guardian=no', '--daemon=no'], port)
    },
  },
  {
    name: 'bind',
    isInstalled: () => program('named') !== null,
    async start(folder, port, names) {
      writeFileSync(join(folder, 'zone'), benchZoneFile(names))
      const text = `options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; notify no; dnssec-validation no;
};
controls { };
zone "${zoneName}" { type primary; file "${folder}/zone"; };
`
      writeFileSync(join(folder, 'named.conf'), text)
      return spawn([program('named')!, '-f', '-c', join(folder, 'named.conf')], port)
    },
  },
  {
    name: 'knot',
    isInstalled: () => program('knotd') !== null,
    async start(folder, port, names) {
      writeFileSync(join(folder, 'zone'), benchZoneFile(names))
      const text = `server:
    rundir: "${folder}"
    listen: [ "127.0.0.1@${port}" ]
    udp-workers: 1
database:
    storage: "${folder}/db"
zone:
  - domain: ${zoneName}
    storage: "${folder}"
    file: zone
`
      mkdirSync(join(folder, 'db'))
      writeFileSync(join(folder, 'knot.conf'), text)
      return spawn([program('knotd')!, '-c', join(folder, 'knot.conf')], port)
    },
  },
]

const maxLogCharacters = 500

async function spawn(command: string[], port: number): Promise<RunningServer> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const output = new Response(child.stderr).text()
  return {
    port,
    hasExited: () => child.exitCode !== null,
    log: async () => (await output).trim().slice(-maxLogCharacters),
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** A port that is free for both UDP and TCP. */
export async function freePort(): Promise<number> {
  for (;;) {
    const tcp = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, error() {} } })
    const { port } = tcp
    try {
      const udp = await Bun.udpSocket({ hostname: '127.0.0.1', port, socket: { data() {}, error() {} } })
      udp.close()
      return port
    } catch {
      continue
    } finally {
      tcp.stop(true)
    }
  }
}

/** The built-in name server with the benchmark zone, in a separate process without the rest of a hub. */
export function addBenchNameServer(bench: Command, threads: Threads): void {
  bench.command('name-server <names>', { hidden: true }).action(async (names: string) => {
    const server = new NameServer(
      { host: '127.0.0.1', port: 0, setting: '--dns-listen', responsesPerSecond: 200, limitLoopback: false },
      { entry: threads.nameServer, clock: systemClock, log: openLog('warn'), onCounts() {}, onEmpty() {} },
    )
    await server.start()
    await server.put(servedBenchZone(Number(names)))
    server.complete()
    console.log(`listening on 127.0.0.1:${server.address!.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop()
  })
}
