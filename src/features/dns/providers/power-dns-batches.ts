import { DnsFormatError } from '../../../core/dns/format-error'
import { rdataOfText, textOf } from '../../../core/dns/rdata'
import { absoluteOf } from '../zone-names'
import { Unanswered } from './json-http'
import { PowerDnsRefusal } from './power-dns-client'
import { changeOf, type PowerDnsChange, type PowerDnsZone } from './power-dns-zone'
import { ProviderError, type Op, type OpResult } from './provider'
import { sameValues } from './same-rrset'
import { stepsByName } from './steps-by-name'

/**
 * Steps in their order, in batches that fit one request. Steps of one name that follow each other are never torn apart: an address
 * in place of a CNAME must not be half done.
 */
export function batchesOf(
  ops: readonly Op[],
  zoneName: string,
  here: Pick<PowerDnsZone, 'disabled'>,
  mostOps: number,
  mostBytes = mostBodyBytes,
): Op[][] {
  const batches: Op[][] = []
  let bytes = 0
  for (const group of stepsByName(ops)) {
    const size = group.reduce((sum, op) => sum + JSON.stringify(changeOf(op, zoneName, here)).length, 0)
    const last = batches.at(-1)
    if (last && last.length + group.length <= mostOps && bytes + size <= mostBytes) {
      last.push(...group)
      bytes += size
    } else {
      batches.push(group)
      bytes = size
    }
  }
  return batches
}

/**
 * Sends one batch, which happens as a whole or not at all.
 * @param isFirst nothing was sent before: what fails without a trace is thrown
 */
export async function applyBatch(
  batch: readonly Op[],
  zoneName: string,
  here: Pick<PowerDnsZone, 'disabled'>,
  send: (rrsets: PowerDnsChange[]) => Promise<unknown>,
  isFirst: boolean,
): Promise<OpResult[]> {
  const spellings = new Map<string, string>()
  const spelled = (type: string, value: Uint8Array) => spellings.get(valueKey(type, value)) ?? textOf(type, value)
  for (;;) {
    try {
      await send(batch.map(op => changeOf(op, zoneName, here, spelled)))
      return batch.map(({ name, type }) => ({ name, type, outcome: 'done' }))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error instanceof PowerDnsRefusal) {
        if (spellings.size < mostSpellings && learned(error.told, batch, spellings)) continue
        return refused(batch, zoneName, error)
      }
      const happened = error instanceof Unanswered ? error.sent : mayHaveHappened.has(error.failure)
      if (!happened && isFirst) throw error
      const outcome = happened ? 'unknown' : 'left'
      return batch.map(({ name, type }) => ({ name, type, outcome, detail: error.message }))
    }
  }
}

// The server takes bodies of 2 MB (webserver-max-bodysize) where it is not set otherwise.
const mostBodyBytes = 1024 * 1024

// An error inside the server, or of what stands in front of it, and an answer that nobody can read.
const mayHaveHappened = new Set(['refused', 'invalid_answer', 'incomplete', 'timeout'])

// Each costs a request.
const mostSpellings = 20

const valueKey = (type: string, value: Uint8Array) => `${type} ${Buffer.from(value).toString('hex')}`

/**
 * The server takes values in its own spelling alone, and tells it where it wants another one. That is taken if it means the same.
 * @returns whether something was learned, so that it is worth another try
 */
function learned(told: string, batch: readonly Op[], spellings: Map<string, string>): boolean {
  const text = /Not in expected format \(parsed as '([^]*)'\)$/.exec(told)?.[1]
  if (text === undefined) return false
  for (const { type, after } of batch) {
    for (const value of after?.values ?? []) {
      const key = valueKey(type, value)
      if (spellings.has(key) || !means(type, text, value)) continue
      spellings.set(key, text)
      return true
    }
  }
  return false
}

function means(type: string, text: string, value: Uint8Array): boolean {
  try {
    return sameValues(type, [rdataOfText(type, text, null)], [value])
  } catch (error) {
    if (error instanceof DnsFormatError) return false
    throw error
  }
}

/** The step that the server names is refused, and the others with it are left; all are refused where it names none. */
function refused(batch: readonly Op[], zoneName: string, { told, message }: PowerDnsRefusal): OpResult[] {
  const isNamed = ({ name, type }: Op) => {
    const fqdn = absoluteOf(name, zoneName)
    return told.includes(` ${fqdn}/${type} `) || told.includes(` ${fqdn} IN ${type}:`) || told.includes(` ${fqdn} IN ${type} `)
  }
  const some = batch.some(isNamed)
  return batch.map(op => ({
    name: op.name,
    type: op.type,
    outcome: some && !isNamed(op) ? 'left' : 'refused',
    detail: some && !isNamed(op) ? 'Left since another step of the same request was refused.' : message,
  }))
}
