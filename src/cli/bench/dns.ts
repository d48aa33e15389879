import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Figure, Report } from './bench'
import { listFigures } from './dns-lists'
import { candidates, type Candidate, type Started } from './dns-servers'
import { loadDns } from './dns-load'
import { zoneFigures } from './dns-zone-work'
import { scratch } from './hub-process'
import { ownApi, type OwnApi } from './own-api'

/** `bailiwick bench dns`: what the name server answers, beside those of others, and what zones and lists of many records cost. */
export const dnsBench: Bench = {
  name: 'dns',
  summary:
    'Queries a second beside PowerDNS, BIND and Knot where they are installed; import, plan and diff of a large zone; pages of a million records.',
  options: [
    { name: 'names', meaning: 'names in the zone that is asked for', default: 1000 },
    { name: 'seconds', meaning: 'seconds a round', default: 3 },
    {
      name: 'rounds',
      meaning: 'rounds, in each of which every server is asked; the median counts; 0 for none',
      default: 3,
      least: 0,
    },
    { name: 'zone', meaning: 'records of the zone that is imported; 0 for none', default: 100_000, least: 0 },
    { name: 'records', meaning: 'records that are listed; 0 for none', default: 1_000_000, least: 0 },
  ],
  async run(args) {
    const reports = [
      ...(args.rounds! > 0 ? [await queryReport(args.names!, args.seconds!, args.rounds!)] : []),
      ...(args.zone! > 0 ? [await withApi(api => zoneFigures(api, args.zone!))] : []),
      ...(args.records! > 0 ? [await withApi(api => listFigures(api, args.records!))] : []),
    ]
    return { figures: reports.flatMap(one => one.figures), notes: reports.flatMap(one => one.notes ?? []) }
  },
}

async function withApi(measure: (api: OwnApi) => Promise<Figure[]>): Promise<Report> {
  const here = scratch()
  const api = await ownApi(here.config)
  try {
    return { figures: await measure(api) }
  } finally {
    await api.close()
    here.remove()
  }
}

async function queryReport(names: number, seconds: number, rounds: number): Promise<Report> {
  const present = candidates.filter(one => one.present())
  const absent = candidates.filter(one => !one.present())
  const here = scratch()
  const notes = absent.map(one => `${one.name} is not installed and was not measured.`)
  const rates = new Map<Candidate, number[]>(present.map(one => [one, []]))
  try {
    for (let round = 0; round < rounds; round++) {
      for (const candidate of present) {
        const server = await startedOn(candidate, join(here.folder, `${candidate.name}-${round}`), names)
        if ('failed' in server) {
          notes.push(`${candidate.name}, round ${round + 1}: could not be started. ${server.failed}`)
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
    here.remove()
  }
  const figures: Figure[] = [...rates]
    .filter(([, all]) => all.length > 0)
    .map(([{ name }, all]) => ({ name: `${name} queries`, value: median(all), unit: '1/s' }))
  const own = median(rates.get(candidates[0]!)!)
  for (const [{ name }, all] of [...rates].slice(1))
    if (all.length > 0) figures.push({ name: `bailiwick / ${name}`, value: own / median(all), unit: '×' })
  notes.push(
    `One zone of ${names} names, each with an A record; one query of ten is for a name that is not there. 128 queries in flight, from this machine.`,
  )
  return { figures, notes }
}

const triesToStart = 3

/** A server that answers for the zone. A port that was free may be taken when the server opens it, so it is tried on another then. */
async function startedOn(candidate: Candidate, folder: string, names: number): Promise<Started | { failed: string }> {
  let failed = ''
  for (let tries = 0; tries < triesToStart; tries++) {
    const own = join(folder, String(tries))
    mkdirSync(own, { recursive: true })
    const server = await candidate.start(own, await freePort(), names)
    if (await warm(server, names)) return server
    await server.stop()
    failed = (await server.said?.()) ?? ''
  }
  return { failed }
}

/** Asks until most answers come, which is when the zone is loaded and caches are filled. */
async function warm(server: Started, names: number): Promise<boolean> {
  for (let tries = 0; tries < 40 && !server.ended?.(); tries++) {
    const { answers, wrong } = await loadDns(server.port, names, 0.5)
    if (answers > 100 && wrong === 0) return true
  }
  return false
}

/** A port that is free for both protocols: servers take it for UDP and TCP, or end. */
async function freePort(): Promise<number> {
  for (;;) {
    const tcp = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { port } = tcp
    try {
      const udp = await Bun.udpSocket({ hostname: '127.0.0.1', port, socket: { data() {} } })
      udp.close()
      return port
    } catch {
      continue
    } finally {
      tcp.stop(true)
    }
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
