import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Figure } from './bench'
import { candidates, type Candidate } from './dns-servers'
import { loadDns } from './dns-load'
import { scratch } from './hub-process'

/** Queries a second of the built-in name server, beside the servers of others that are installed. */
export const dnsBench: Bench = {
  name: 'dns',
  summary:
    'Queries a second that the built-in name server answers by UDP, beside PowerDNS, BIND and Knot where they are installed.',
  options: [
    { name: 'names', meaning: 'names in the zone', default: 1000 },
    { name: 'seconds', meaning: 'seconds a round', default: 3 },
    { name: 'rounds', meaning: 'rounds, in each of which every server is asked; the median counts', default: 3 },
  ],
  async run(args) {
    const [names, seconds, rounds] = [args.names!, args.seconds!, args.rounds!]
    const present = candidates.filter(one => one.present())
    const absent = candidates.filter(one => !one.present())
    const here = scratch()
    const notes = absent.map(one => `${one.name} is not installed and was not measured.`)
    const rates = new Map<Candidate, number[]>(present.map(one => [one, []]))
    try {
      for (let round = 0; round < rounds; round++) {
        for (const candidate of present) {
          const folder = join(here.folder, `${candidate.name}-${round}`)
          mkdirSync(folder)
          const server = await candidate.start(folder, await freePort(), names)
          try {
            if (!(await warm(server.port, names))) {
              if (round === 0) notes.push(`${candidate.name} could not be started.`)
              continue
            }
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
  },
}

/** Asks until most answers come, which is when the zone is loaded and caches are filled. */
async function warm(port: number, names: number): Promise<boolean> {
  for (let tries = 0; tries < 40; tries++) {
    const { answers, wrong } = await loadDns(port, names, 0.5)
    if (answers > 100 && wrong === 0) return true
  }
  return false
}

async function freePort(): Promise<number> {
  const socket = await Bun.udpSocket({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = socket
  socket.close()
  return port
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
