import { catchFormatError } from '../../../dns/format-error'
import { rdataOfText, textOf } from '../../../dns/rdata'
import { absoluteOf } from '../zones/names'
import { mayHaveApplied } from '../../../adapters/failure'
import { PowerDnsRefusal } from './power-dns-client'
import { changeOf, type PowerDnsChange, type PowerDnsZone } from './power-dns-zone'
import { ProviderError, resultOf, skippedBy, type Op, type OpResult } from './provider'
import { sameValues } from './same-rrset'
import { stepsByName } from './steps-by-name'

/**
 * Splits steps, in order, into batches that fit one request. Consecutive steps at one name stay together: replacing a CNAME with an
 * address must be atomic.
 */
export function batchesOf(
  ops: readonly Op[],
  zoneName: string,
  here: Pick<PowerDnsZone, 'disabled'>,
  maxOps: number,
  maxBytes = maxBodyBytes,
): Op[][] {
  const batches: Op[][] = []
  let bytes = 0
  for (const group of stepsByName(ops)) {
    const size = group.reduce((sum, op) => sum + JSON.stringify(changeOf(op, zoneName, here)).length, 0)
    const last = batches.at(-1)
    if (last && last.length + group.length <= maxOps && bytes + size <= maxBytes) {
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
 * Sends one batch, which is applied atomically.
 * @param isFirst nothing was sent before, so errors can be thrown
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
      return batch.map(op => resultOf(op, 'done'))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error instanceof PowerDnsRefusal) {
        if (spellings.size < maxSpellings && learnSpelling(error.reason, batch, spellings)) continue
        return refused(batch, zoneName, error)
      }
      const happened = mayHaveApplied(error)
      if (!happened && isFirst) throw error
      return batch.map(op => (happened ? resultOf(op, 'unknown', error.message) : skippedBy(op, error)))
    }
  }
}

// The default limit of the server is 2 MB (webserver-max-bodysize).
const maxBodyBytes = 1024 * 1024

// Each costs a request.
const maxSpellings = 20

const valueKey = (type: string, value: Uint8Array) => `${type} ${Buffer.from(value).toString('hex')}`

/**
 * The server only accepts its own formatting of values, and reports the expected one. Uses it if it means the same.
 * @returns whether something was learned, so that a retry makes sense
 */
function learnSpelling(reason: string, batch: readonly Op[], spellings: Map<string, string>): boolean {
  const text = /Not in expected format \(parsed as '([^]*)'\)$/.exec(reason)?.[1]
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

const means = (type: string, text: string, value: Uint8Array): boolean =>
  catchFormatError(
    () => sameValues(type, [rdataOfText(type, text, null)], [value]),
    () => false,
  )

/** Refuses the step that the server names and skips the others; refuses all if it names none. */
function refused(batch: readonly Op[], zoneName: string, { reason, message }: PowerDnsRefusal): OpResult[] {
  const isNamed = ({ name, type }: Op) => {
    const fqdn = absoluteOf(name, zoneName)
    return (
      reason.includes(` ${fqdn}/${type} `) || reason.includes(` ${fqdn} IN ${type}:`) || reason.includes(` ${fqdn} IN ${type} `)
    )
  }
  const some = batch.some(isNamed)
  return batch.map(op =>
    some && !isNamed(op)
      ? resultOf(op, 'skipped', 'Skipped because another change in the same request was refused.')
      : resultOf(op, 'refused', message),
  )
}
