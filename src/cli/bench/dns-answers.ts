import type { Figure } from './bench'
import { benchRecords, servedBenchZone, zoneName } from './dns-zone'
import { median } from './median'
import { encodeMessage } from '../../dns/message-encode'
import { message } from '../../dns/message'
import { rdataOfText } from '../../dns/rdata'
import { Answerer } from '../../features/dns/server/answerer'
import { ZoneIndex, ZoneSet } from '../../features/dns/server/zone-index'

const rounds = 9
const queriesPerRound = 100_000

/** Measures the CPU time of answers, without receiving and sending them. */
export function answerFigures(names: number): Figure[] {
  const zones = new ZoneSet()
  const zone = servedBenchZone(names)
  const more = [
    ['*.wild', 'A', '192.0.2.1'],
    ['sub', 'NS', `ns.sub.${zoneName}.`],
    ['ns.sub', 'A', '192.0.2.1'],
  ] as const
  for (const [name, type, content] of more)
    zone.rrsets.push({ name: `${name}.${zoneName}.`, type, ttl: 300, rdata: [rdataOfText(type, content, null)] })
  zones.put(ZoneIndex.of(zone))
  const answerer = new Answerer(zones)
  const existing = benchRecords(names).slice(3)
  const kinds: { name: string; queried(n: number): string }[] = [
    { name: 'existing name', queried: n => existing[n % names]!.name },
    { name: 'nonexistent name', queried: n => `absent${n}.${zoneName}` },
    { name: 'wildcard', queried: n => `any${n}.wild.${zoneName}` },
    { name: 'referral', queried: n => `any${n}.sub.${zoneName}` },
  ]
  return kinds.map(({ name, queried }) => {
    const queries = Array.from({ length: queriesPerRound }, (_, n) => queryOf(`${queried(n)}.`))
    const costs = Array.from({ length: rounds }, () => {
      const before = process.cpuUsage()
      for (const query of queries) answerer.answer(query, 'udp')
      return process.cpuUsage(before).user / queriesPerRound
    })
    return { name: `CPU of an answer, ${name}`, value: median(costs), unit: 'µs' }
  })
}

const queryOf = (name: string): Uint8Array =>
  encodeMessage(
    message({
      id: 1,
      question: [{ name, type: 'A', class: 1 }],
      edns: { udpSize: 1232, version: 0, dnssec: false, options: [] },
    }),
  )
