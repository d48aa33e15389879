import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import { NameServer } from '../../features/dns/server/name-server'
import type { Threads } from '../../hub/run'
import { benchRecords, benchZoneFile, servedBenchZone, zoneName } from './dns-zone'
import { serveAgain, type Served } from './hub-process'

/** A server that the bench asks, and how to start it with the bench zone in a folder of its own. */
export interface Candidate {
  name: string
  /** False when it is not installed. */
  present(): boolean
  start(folder: string, port: number, names: number): Promise<Started>
}

/** A server that was started, which need not mean that it answers. */
export interface Started {
  port: number
  stop(): Promise<void>
  /** Whether it has ended by itself. */
  ended?(): boolean
  /** The last that it said of itself, once it has stopped. */
  said?(): Promise<string>
}

// Servers lie where the PATH of users does not lead.
const places = { PATH: '/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin' }
const program = (name: string) => Bun.which(name, places)
const powerDnsSchema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

/** The built-in server, and whom it is measured beside. */
export const candidates: readonly Candidate[] = [
  {
    name: 'bailiwick',
    present: () => true,
    start: (_, __, names): Promise<Served> => serveAgain(['bench', 'name-server', String(names)]),
  },
  {
    name: 'powerdns',
    present: () => program('pdns_server') !== null && existsSync(powerDnsSchema),
    async start(folder, port, names) {
      const file = join(folder, 'pdns.sqlite3')
      const db = new Database(file)
      db.run(readFileSync(powerDnsSchema, 'utf8'))
      db.run(`insert into domains (id, name, type) values (1, '${zoneName}', 'NATIVE')`)
      const insert = db.prepare('insert into records (domain_id, name, type, ttl, content, auth) values (1, ?, ?, ?, ?, 1)')
      db.run('begin')
      // It keeps names without the dot at their end.
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
    present: () => program('named') !== null,
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
    present: () => program('knotd') !== null,
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

const charactersTold = 500

async function spawn(command: string[], port: number): Promise<Started> {
  const run = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const said = new Response(run.stderr).text()
  return {
    port,
    ended: () => run.exitCode !== null,
    said: async () => (await said).trim().slice(-charactersTold),
    async stop() {
      run.kill('SIGKILL')
      await run.exited
    },
  }
}

/** The built-in server in a process of its own, with the bench zone and nothing else of a hub. */
export function addBenchNameServer(bench: Command, threads: Threads): void {
  bench.command('name-server <names>', { hidden: true }).action(async (names: string) => {
    const server = new NameServer(
      { host: '127.0.0.1', port: 0, responsesPerSecond: 200, limitLoopback: false },
      { entry: threads.nameServer, clock: systemClock, log: openLog('warn'), counted() {}, empty() {} },
    )
    await server.start()
    await server.put(servedBenchZone(Number(names)))
    server.complete()
    console.log(`answers at 127.0.0.1:${server.address!.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop()
  })
}
