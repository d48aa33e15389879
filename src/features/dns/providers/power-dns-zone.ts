import { DnsFormatError } from '../../../core/dns/format-error'
import { lowerName, parseName } from '../../../core/dns/name'
import { rdataOfText, textOf } from '../../../core/dns/rdata'
import { ttlReceived } from '../../../core/dns/ttl'
import { isTypeName } from '../../../core/dns/type-codes'
import { othersTurn } from '../../../core/turns'
import { absoluteOf, withinZone } from '../zone-names'
import { ProviderError, type Op, type ProviderRrset } from './provider'
import { stepKey } from './same-rrset'

/** A record as the API has it. */
export interface PowerDnsRecord {
  content: string
  disabled: boolean
}

/** What is at the server, read for comparing with and for writing over. */
export interface PowerDnsZone {
  serial: number
  /** The server copies it from elsewhere: what is written here would be lost. */
  isSecondary: boolean
  /** By {@link stepKey}; those alone that answer something. */
  rrsets: Map<string, ProviderRrset>
  /** Records that are switched off, by {@link stepKey}. They are kept when others of their rrset change. */
  disabled: Map<string, PowerDnsRecord[]>
}

/**
 * Reads the answer to a zone; others have their turn meanwhile.
 * @param only what is wanted of it, by {@link stepKey}; all when absent
 * @throws ProviderError `incomplete`, `invalid_answer`
 */
export async function zoneOfAnswer(answer: unknown, zoneName: string, only?: ReadonlySet<string>): Promise<PowerDnsZone> {
  const { rrsets, serial, edited_serial, kind } = answer as Record<string, unknown>
  if (!Array.isArray(rrsets) || typeof kind !== 'string') throw wrongForm('has no rrsets')
  const zone: PowerDnsZone = {
    serial: [edited_serial, serial].find(isUint32) ?? 0,
    isSecondary: /^(slave|secondary|consumer)$/i.test(kind),
    rrsets: new Map(),
    disabled: new Map(),
  }
  let hasSoa = false
  for (const [place, one] of (rrsets as unknown[]).entries()) {
    if (place % rrsetsAtOnce === rrsetsAtOnce - 1) await othersTurn()
    const { name, type, ttl, records } = (one ?? {}) as Record<string, unknown>
    if (typeof name !== 'string' || typeof type !== 'string' || !isUint32(ttl) || !Array.isArray(records))
      throw wrongForm('has an rrset without name, type, TTL or records')
    hasSoa ||= type === 'SOA'
    // Types of its own, such as LUA, are no data of DNS and stay as they are there.
    if (madeElsewhere.has(type) || !isTypeName(type)) continue
    const below = nameIn(zoneName, name)
    if (only && !only.has(stepKey({ name: below, type }))) continue
    addRrset(zone, { name: below, type, ttl: ttlReceived(ttl), records: records.map(recordOf) })
  }
  if (!hasSoa) throw new ProviderError('incomplete', 'The answer has no SOA: it is not the whole zone.')
  return zone
}

/** A member of `rrsets` of a PATCH. */
export interface PowerDnsChange {
  name: string
  type: string
  changetype: 'REPLACE' | 'DELETE'
  ttl?: number
  records?: PowerDnsRecord[]
}

/**
 * A step as the API takes it. Comments are not named, so they stay; records that are switched off stay too.
 * @param spelling the server's own text of a value where it wants another than ours
 */
export function changeOf(
  op: Op,
  zoneName: string,
  here: Pick<PowerDnsZone, 'disabled'>,
  spelling: (type: string, value: Uint8Array) => string = textOf,
): PowerDnsChange {
  const name = absoluteOf(op.name, zoneName)
  const kept = here.disabled.get(stepKey(op)) ?? []
  const values = op.after?.values ?? []
  if (values.length + kept.length === 0) return { name, type: op.type, changetype: 'DELETE' }
  const records = [...values.map(value => ({ content: spelling(op.type, value), disabled: false })), ...kept]
  return { name, type: op.type, changetype: 'REPLACE', ttl: (op.after ?? op.before)!.ttl, records }
}

// The SOA is not a step of any plan; the rest is made by signing.
const madeElsewhere = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

// Some ten milliseconds.
const rrsetsAtOnce = 1000

function addRrset(
  zone: PowerDnsZone,
  { name, type, ttl, records }: { name: string; type: string; ttl: number; records: PowerDnsRecord[] },
): void {
  const key = stepKey({ name, type })
  if (zone.rrsets.has(key) || zone.disabled.has(key)) throw wrongForm(`has ${name} ${type} twice`)
  const off = records.filter(one => one.disabled)
  if (off.length > 0) zone.disabled.set(key, off)
  const values = records.filter(one => !one.disabled).map(one => valueOf(name, type, one.content))
  if (values.length > 0) zone.rrsets.set(key, { name, type, ttl, values })
}

function recordOf(one: unknown): PowerDnsRecord {
  const { content, disabled } = (one ?? {}) as Record<string, unknown>
  if (typeof content !== 'string') throw wrongForm('has a record without content')
  return { content, disabled: disabled === true }
}

function nameIn(zoneName: string, text: string): string {
  const name = reading(`the name ${text}`, () => withinZone(lowerName(parseName(text, null)), zoneName))
  if (name === null) throw wrongForm(`has ${text}, which is not within the zone`)
  return name
}

const valueOf = (name: string, type: string, content: string): Uint8Array =>
  reading(`a value of ${name} ${type}`, () => rdataOfText(type, content, null))

function reading<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DnsFormatError) throw wrongForm(`has ${what}, which cannot be read: ${error.message}`)
    throw error
  }
}

const isUint32 = (value: unknown): value is number => Number.isInteger(value) && (value as number) >>> 0 === value

const wrongForm = (what: string) => new ProviderError('invalid_answer', `The zone at the server ${what}.`)
