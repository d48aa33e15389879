import { Database } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { record } from '../../core/change'
import type { Config } from '../../core/config'
import { declareInterest } from '../../features/registry/interests'
import { readDueRegistrations } from '../../features/registry/look'
import { openHub } from '../../hub/run'
import type { Bench, Figure } from './bench'
import {
  cpuSecondsOf,
  longestBlockMs,
  residentBytes,
  startServer,
  temporaryInstallation,
  type ServerProcess,
} from './child-processes'

const goals = { perSecond: 300, chosenMs: 200, memory: 60e6 }
const perTransaction = 500
const daySeconds = 86_400
const settleMs = 10_000
const pollMs = 250
const maxMs = 600_000
/** Top-level domains whose servers are replaced. */
const tlds =
  'com net org info dev app xyz online shop store site tech cloud blog wiki news live world today email agency studio design media group team works tools systems network digital services solutions support company center house space zone link'.split(
    ' ',
  )

/** `bailiwick bench registry`: how fast registrations are looked up when no server limits the pace. */
export const registryBench: Bench = {
  name: 'registry',
  summary: 'Look up the registrations of many names at local RDAP servers',
  options: [
    { name: 'names', description: 'Number of names', default: 10_000 },
    { name: 'servers', description: 'Number of RDAP servers, each of one top-level domain', default: 40 },
  ],
  async run({ names, servers }) {
    if (servers! > tlds.length) throw new Error(`There can be at most ${tlds.length} servers.`)
    const rdap = startRdap()
    const { config, folder, remove } = temporaryInstallation()
    try {
      const file = join(folder, 'registry.json')
      writeFileSync(file, JSON.stringify(registryFile(rdap.port, servers!)))
      const withHub = inHub(folder, { [config.names.registryFile]: file })
      const idle = await withHub(async hub => {
        await Bun.sleep(settleMs)
        return residentBytes(hub.pid, 'RssAnon')
      })
      const chosenMs = await addNames({ ...config, registryFile: file }, names!, servers!)
      const figures = await withHub(hub => measure(hub, folder, names!, idle))
      return {
        figures: [
          { name: `${perTransaction} due names chosen and queued`, value: (chosenMs * perTransaction) / names!, unit: 'ms' },
          { name: 'goal', value: goals.chosenMs, unit: 'ms' },
          ...figures,
        ],
        notes: ['The servers run in the process of the benchmark, on the same machine, and no pace limits the queries.'],
      }
    } finally {
      remove()
      await rdap.stop()
    }
  },
}

async function measure(hub: ServerProcess, folder: string, names: number, idle: number): Promise<Figure[]> {
  const [startedAt, cpu] = [performance.now(), cpuSecondsOf(hub.pid)]
  let memory = 0
  const stored = countStored(join(folder, 'bailiwick.db'))
  while (stored() < names) {
    if (performance.now() - startedAt > maxMs) throw new Error('Not all names were looked up within 10 minutes.')
    await Bun.sleep(pollMs)
    memory = Math.max(memory, residentBytes(hub.pid, 'RssAnon'))
  }
  const seconds = (performance.now() - startedAt) / 1000
  return [
    { name: 'registrations stored', value: names / seconds, unit: '1/s' },
    { name: 'goal', value: goals.perSecond, unit: '1/s' },
    { name: 'CPU time of the hub', value: ((cpuSecondsOf(hub.pid) - cpu) * 1000) / names, unit: 'ms/name' },
    { name: 'longest block of the event loop', value: await longestBlockMs(hub), unit: 'ms' },
    { name: 'memory, more than a hub without names', value: (memory - idle) / 1e6, unit: 'MB' },
    { name: 'goal', value: goals.memory / 1e6, unit: 'MB' },
  ]
}

/** Adds names that nobody has looked up, and queues a part of them. @returns how long that took, in milliseconds */
async function addNames(config: Config, names: number, servers: number): Promise<number> {
  const hub = await openHub(config)
  try {
    for (let from = 0; from < names; from += perTransaction)
      await record(hub, async tx => {
        for (let n = from; n < Math.min(names, from + perTransaction); n++)
          await declareInterest(tx, hub, { type: 'monitor', id: `mon_bench_${n}` }, `name-${n}.${tldOf(n % servers)}`, daySeconds)
        return { result: undefined }
      })
    const startedAt = performance.now()
    await readDueRegistrations(hub)
    return performance.now() - startedAt
  } finally {
    await hub.store.close()
  }
}

/** Runs a function while a hub runs. */
const inHub =
  (folder: string, env: Record<string, string>) =>
  async <T>(fn: (hub: ServerProcess) => Promise<T>): Promise<T> => {
    const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'], env)
    try {
      return await fn(hub)
    } finally {
      await hub.stop()
    }
  }

/** Counts the names whose registration is stored, apart from canaries. */
function countStored(file: string): () => number {
  const db = new Database(file, { readonly: true })
  const query = db.query<{ stored: number }, []>(
    "select count(*) stored from registry_facts where read_at is not null and name like 'name-%'",
  )
  return () => query.get()!.stored
}

const tldOf = (server: number): string => tlds[server % tlds.length]!

/** Each server has an address of its own in 127.0.0.0/8. */
function registryFile(port: number, servers: number): object {
  const hosts = Array.from({ length: servers }, (_, n) => `127.0.${1 + Math.floor(n / 250)}.${1 + (n % 250)}:${port}`)
  return {
    sources: hosts.map((host, n) => ({ tlds: [tldOf(n)], kind: 'rdap', url: `http://${host}/` })),
    paces: Object.fromEntries(hosts.map(host => [`rdap:${host}`, { seconds: 0.001, burst: 1000, per_day: 1_000_000 }])),
  }
}

/** An RDAP server on all local addresses that knows every name (RFC 9083). */
function startRdap(): { port: number; stop(): Promise<void> } {
  const headers = { 'content-type': 'application/rdap+json' }
  const server = Bun.serve({
    hostname: '0.0.0.0',
    port: 0,
    fetch: request => {
      const ldhName = new URL(request.url).pathname.split('/').at(-1)
      const events = [
        { eventAction: 'registration', eventDate: '2019-04-02T10:11:12Z' },
        { eventAction: 'expiration', eventDate: '2030-04-02T10:11:12Z' },
      ]
      const body = {
        objectClassName: 'domain',
        ldhName,
        status: ['active'],
        events,
        nameservers: [{ ldhName: 'ns1.example.net' }],
      }
      return Response.json(body, { headers })
    },
  })
  return { port: server.port!, stop: () => server.stop(true) }
}
