import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Figure, Report } from './bench'
import { answerFigures } from './dns-answers'
import { listFigures } from './dns-lists'
import { fillZone, removeZone } from './dns-fill'
import { candidates, freePort, type Candidate, type RunningServer } from './dns-servers'
import { startFigures } from './dns-start'
import { median } from './median'
import { loadDns } from './dns-load'
import { zoneFigures } from './dns-large-zone'
import { temporaryInstallation } from './child-processes'
import { openInProcessApi, type InProcessApi } from './in-process-api'

/** `bailiwick bench dns`: query throughput of name servers, and the cost of large zones and lists. */
export const dnsBench: Bench = {
  name: 'dns',
  summary:
    'Measure DNS queries (compared to PowerDNS, BIND, and Knot), changes to a large zone, long lists of records, and starts with many records',
  options: [
    { name: 'names', description: 'Number of names in the queried zone', default: 1000 },
    { name: 'seconds', description: 'Seconds per server and round', default: 3 },
    {
      name: 'rounds',
      description: 'Number of rounds of queries (the result is the median). 0 skips the queries',
      default: 3,
      min: 0,
    },
    { name: 'zone', description: 'Number of records in the imported zone. 0 skips the import', default: 100_000, min: 0 },
    {
      name: 'records',
      description: 'Number of records for the lists and for the starts of a hub. 0 skips both',
      default: 1_000_000,
      min: 0,
    },
  ],
  async run(args) {
    const reports = [
      ...(args.rounds! > 0
        ? [await queryReport(args.names!, args.seconds!, args.rounds!), { figures: answerFigures(args.names!) }]
        : []),
      ...(args.zone! > 0 ? [await withApi(api => zoneFigures(api, args.zone!))] : []),
      ...(args.records! > 0 ? await recordReports(args.records!) : []),
    ]
    return { figures: reports.flatMap(one => one.figures), notes: reports.flatMap(one => one.notes ?? []) }
  },
}

/** Starts with a tenth of the records and with all, and lists of all. */
const recordReports = async (records: number): Promise<Report[]> => [
  await withApi((api, folder) =>
    withFilledZone(api, Math.ceil(records / 10), zone => startFigures(folder, zone.name, Math.ceil(records / 10))),
  ),
  await withApi((api, folder) =>
    withFilledZone(api, records, async zone => [
      ...(await listFigures(api, zone.id, records)),
      ...(await startFigures(folder, zone.name, records)),
    ]),
  ),
]

async function withFilledZone(
  api: InProcessApi,
  records: number,
  measure: (zone: { id: string; name: string }) => Promise<Figure[]>,
): Promise<Figure[]> {
  const zone = await api.call('POST', '/v1/dns/zones', { name: `filled-${crypto.randomUUID().slice(0, 8)}.test` })
  try {
    const startedAt = performance.now()
    await fillZone(api.hub, zone.id, records)
    const seconds = (performance.now() - startedAt) / 1000
    return [{ name: `fill with ${records} records`, value: seconds, unit: 's' }, ...(await measure(zone))]
  } finally {
    await removeZone(api.hub, zone.id)
  }
}

async function withApi(measure: (api: InProcessApi, folder: string) => Promise<Figure[]>): Promise<Report> {
  const { config, folder, remove } = temporaryInstallation()
  const api = await openInProcessApi(config)
  try {
    return { figures: await measure(api, folder) }
  } finally {
    await api.close()
    remove()
  }
}

async function queryReport(names: number, seconds: number, rounds: number): Promise<Report> {
  const installed = candidates.filter(one => one.isInstalled())
  const missing = candidates.filter(one => !one.isInstalled())
  const { folder, remove } = temporaryInstallation()
  const notes = missing.map(one => `${one.name} is not installed and was not measured.`)
  const rates = new Map<Candidate, number[]>(installed.map(one => [one, []]))
  try {
    for (let round = 0; round < rounds; round++) {
      for (const candidate of installed) {
        const server = await startWithRetries(candidate, join(folder, `${candidate.name}-${round}`), names)
        if ('error' in server) {
          notes.push(`${candidate.name}, round ${round + 1}: failed to start. ${server.error}`)
          continue
        }
        try {
          const { perSecond, wrong, lost } = await loadDns(server.port, names, seconds)
          rates.get(candidate)!.push(perSecond)
          if (wrong > 0 || lost > 0) notes.push(`${candidate.name}, round ${round + 1}: ${wrong} wrong answers, ${lost} lost.`)
        } finally {
          await server.stop()
        }
      }
    }
  } finally {
    remove()
  }
  const figures: Figure[] = [...rates]
    .filter(([, all]) => all.length > 0)
    .map(([{ name }, all]) => ({ name: `${name} queries`, value: median(all), unit: '1/s' }))
  const own = median(rates.get(candidates[0]!)!)
  for (const [{ name }, all] of [...rates].slice(1))
    if (all.length > 0) figures.push({ name: `bailiwick / ${name}`, value: own / median(all), unit: '×' })
  notes.push(
    `One zone with ${names} A records. One in ten queries is for a nonexistent name. 128 queries in flight, from this machine.`,
  )
  return { figures, notes }
}

const maxStartAttempts = 3

/** Starts a server and warms it up. Retries on another port, because a free port may be in use once the server opens it. */
async function startWithRetries(candidate: Candidate, folder: string, names: number): Promise<RunningServer | { error: string }> {
  let error = ''
  for (let attempt = 0; attempt < maxStartAttempts; attempt++) {
    const attemptFolder = join(folder, String(attempt))
    mkdirSync(attemptFolder, { recursive: true })
    const server = await candidate.start(attemptFolder, await freePort(), names)
    if (await warmUp(server, names)) return server
    await server.stop()
    error = (await server.log?.()) ?? ''
  }
  return { error }
}

/** Sends queries until the zone is loaded and caches are filled. */
async function warmUp(server: RunningServer, names: number): Promise<boolean> {
  for (let attempt = 0; attempt < 40 && !server.hasExited?.(); attempt++) {
    const { answers, wrong } = await loadDns(server.port, names, 0.5)
    if (answers > 100 && wrong === 0) return true
  }
  return false
}
