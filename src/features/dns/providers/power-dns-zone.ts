import { oneLine } from '../../../core/one-line'
import { catchFormatError } from '../../../dns/format-error'
import { lowerName, parseName } from '../../../dns/name'
import { rdataOfText, textOf } from '../../../dns/rdata'
import { ttlReceived } from '../../../dns/ttl'
import { isTypeName } from '../../../dns/type-codes'
import { yieldToEventLoop } from '../../../core/time-slices'
import { absoluteOf, withinZone, rrsetKey } from '../zones/names'
import { ProviderError, type ForeignEntry, type Op, type ProviderRrset } from './provider'

/** A record in the API. */
interface PowerDnsRecord {
  content: string
  disabled: boolean
}

/** A zone at the server. */
export interface PowerDnsZone {
  serial: number
  /** The server transfers it from a primary, so changes would be lost. */
  isSecondary: boolean
  /** By {@link rrsetKey}; enabled records only. */
  rrsets: Map<string, ProviderRrset>
  /** Disabled records, by {@link rrsetKey}. Kept when their rrset changes. */
  disabled: Map<string, PowerDnsRecord[]>
  /** Records of types that only PowerDNS has. */
  foreign: ForeignEntry[]
}

/**
 * Parses a zone, yielding to other work.
 * @param only limits it to these {@link rrsetKey}s
 * @throws ProviderError `incomplete`, `invalid_response`
 */
export async function parseZoneResponse(response: unknown, zoneName: string, only?: ReadonlySet<string>): Promise<PowerDnsZone> {
  const { rrsets, serial, edited_serial, kind } = response as Record<string, unknown>
  if (!Array.isArray(rrsets) || typeof kind !== 'string') throw invalidFormat('has no rrsets')
  const zone: PowerDnsZone = {
    serial: [edited_serial, serial].find(isUint32) ?? 0,
    isSecondary: /^(slave|secondary|consumer)$/i.test(kind),
    rrsets: new Map(),
    disabled: new Map(),
    foreign: [],
  }
  let hasSoa = false
  for (const [place, one] of (rrsets as unknown[]).entries()) {
    if (place % yieldEvery === yieldEvery - 1) await yieldToEventLoop()
    const { name, type, ttl, records } = (one ?? {}) as Record<string, unknown>
    if (typeof name !== 'string' || typeof type !== 'string' || !isUint32(ttl) || !Array.isArray(records))
      throw invalidFormat('has a record set without a name, type, TTL, or records')
    hasSoa ||= type === 'SOA'
    if (managedElsewhere.has(type)) continue
    const below = nameIn(zoneName, name)
    // Internal types, such as LUA, are not DNS data and stay unchanged.
    if (!isTypeName(type)) {
      for (const { content } of records.map(recordOf))
        zone.foreign.push({ name: below, type, detail: oneLine(`PowerDNS record: ${content}`, 200) })
      continue
    }
    if (only && !only.has(rrsetKey({ name: below, type }))) continue
    addRrset(zone, { name: below, type, ttl: ttlReceived(ttl), records: records.map(recordOf) })
  }
  if (!hasSoa) throw new ProviderError('incomplete', 'The response has no SOA record, so the zone is incomplete.')
  return zone
}

/** An entry of `rrsets` in a PATCH. */
export interface PowerDnsChange {
  name: string
  type: string
  changetype: 'REPLACE' | 'DELETE'
  ttl?: number
  records?: PowerDnsRecord[]
}

/**
 * Converts a step to an API change. Comments are omitted, so they stay; disabled records stay too.
 * @param spelling formats a value as the server expects it
 */
export function changeOf(
  op: Op,
  zoneName: string,
  here: Pick<PowerDnsZone, 'disabled'>,
  spelling: (type: string, value: Uint8Array) => string = textOf,
): PowerDnsChange {
  const name = absoluteOf(op.name, zoneName)
  const disabled = here.disabled.get(rrsetKey(op)) ?? []
  const values = op.after?.values ?? []
  if (values.length + disabled.length === 0) return { name, type: op.type, changetype: 'DELETE' }
  const records = [...values.map(value => ({ content: spelling(op.type, value), disabled: false })), ...disabled]
  return { name, type: op.type, changetype: 'REPLACE', ttl: (op.after ?? op.before)!.ttl, records }
}

// The SOA is never part of a plan; the others are created by DNSSEC signing.
const managedElsewhere = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

// About 10 ms of work.
const yieldEvery = 1000

function addRrset(
  zone: PowerDnsZone,
  { name, type, ttl, records }: { name: string; type: string; ttl: number; records: PowerDnsRecord[] },
): void {
  const key = rrsetKey({ name, type })
  if (zone.rrsets.has(key) || zone.disabled.has(key)) throw invalidFormat(`has ${name} ${type} twice`)
  const off = records.filter(one => one.disabled)
  if (off.length > 0) zone.disabled.set(key, off)
  const values = records.filter(one => !one.disabled).map(one => valueOf(name, type, one.content))
  if (values.length > 0) zone.rrsets.set(key, { name, type, ttl, values })
}

function recordOf(one: unknown): PowerDnsRecord {
  const { content, disabled } = (one ?? {}) as Record<string, unknown>
  if (typeof content !== 'string') throw invalidFormat('has a record without content')
  return { content, disabled: disabled === true }
}

function nameIn(zoneName: string, text: string): string {
  const name = reading(`the name ${text}`, () => withinZone(lowerName(parseName(text, null)), zoneName))
  if (name === null) throw invalidFormat(`has ${text}, which is not within the zone`)
  return name
}

const valueOf = (name: string, type: string, content: string): Uint8Array =>
  reading(`a value of ${name} ${type}`, () => rdataOfText(type, content, null))

const reading = <T>(what: string, read: () => T): T =>
  catchFormatError(read, error => {
    throw invalidFormat(`has ${what}, which is invalid: ${error.message}`)
  })

const isUint32 = (value: unknown): value is number => Number.isInteger(value) && (value as number) >>> 0 === value

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at the server ${what}.`)
