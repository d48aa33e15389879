import ipaddr from 'ipaddr.js'
import type { DsRecord } from '../registrar'

/** A DS record, whose numbers may be texts; null if it is none. */
export function dsRecordOf({ keyTag, algorithm, digestType, digest }: Record<keyof DsRecord, unknown>): DsRecord | null {
  const [tag, alg, type] = [numberOf(keyTag, 65_535), numberOf(algorithm, 255), numberOf(digestType, 255)]
  const hex = typeof digest === 'string' ? digest.toLowerCase().replaceAll(/\s/g, '') : ''
  if (tag === null || alg === null || type === null || !/^([0-9a-f]{2}){1,64}$/.test(hex)) return null
  return { keyTag: tag, algorithm: alg, digestType: type, digest: hex }
}

/** IP addresses in canonical form, each once; null if one is none. */
export function addressesOf(values: unknown): string[] | null {
  if (!Array.isArray(values) || values.length > maxAddresses) return null
  const found: string[] = []
  for (const value of values) {
    if (typeof value !== 'string' || !ipaddr.isValid(value)) return null
    found.push(ipaddr.parse(value).toString())
  }
  return [...new Set(found)]
}

const maxAddresses = 50

function numberOf(value: unknown, max: number): number | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return /^\d{1,5}$/.test(text) && Number(text) <= max ? Number(text) : null
}
