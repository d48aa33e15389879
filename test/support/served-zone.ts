import { decodeMessage } from '../../src/dns/message-decode'
import { encodeMessage } from '../../src/dns/message-encode'
import { message, rcodeName, type Message, type ResourceRecord } from '../../src/dns/message'
import { parseName } from '../../src/dns/name'
import { rdataOfText, textOf } from '../../src/dns/rdata'
import type { ServedSet, ServedZone } from '../../src/features/dns/server/served-zone'

/** A zone from lines `name ttl type rdata`. Names without a trailing dot are relative to the zone. */
export function servedZone(origin: string, lines: string): ServedZone {
  const sets = new Map<string, ServedSet>()
  for (const line of lines.split('\n').map(one => one.trim())) {
    if (line === '' || line.startsWith(';')) continue
    const [owner = '', ttl = '', type = '', ...rest] = line.split(/\s+/)
    const name = parseName(owner, origin)
    const key = `${name.toLowerCase()} ${type}`
    const set = sets.get(key) ?? { name, type, ttl: Number(ttl), rdata: [] }
    sets.set(key, set)
    set.rdata.push(rdataOfText(type, rest.join(' '), origin))
  }
  return { name: origin, rrsets: [...sets.values()] }
}

/** An encoded query, as a resolver would send it; with EDNS unless `edns` is null. */
export function queryOctets(name: string, type: string, more: Partial<Omit<Message, 'flags'>> = {}): Uint8Array {
  return encodeMessage(
    message({
      id: 4711,
      question: [{ name, type, class: 1 }],
      edns: { udpSize: 1232, version: 0, dnssec: false, options: [] },
      ...more,
    }),
  )
}

/** An answer in the form of `dig` output: rcode, flags, and the records of each section as text. */
export interface DigOutput {
  rcode: string
  flags: string
  answer: string[]
  authority: string[]
  additional: string[]
}

export function digOutput(octets: Uint8Array): DigOutput {
  const { rcode, flags, answer, authority, additional } = decodeMessage(octets)
  return {
    rcode: rcodeName(rcode),
    flags: Object.entries(flags)
      .filter(([, set]) => set)
      .map(([flag]) => flag)
      .join(' '),
    answer: answer.map(recordText),
    authority: authority.map(recordText),
    additional: additional.map(recordText),
  }
}

export const recordText = ({ name, ttl, type, rdata }: ResourceRecord): string => `${name} ${ttl} ${type} ${textOf(type, rdata)}`
