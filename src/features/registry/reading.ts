import { oneLine } from '../../core/one-line'

/** What a registry says about a name. Times in ms UTC; null if it doesn’t say. */
export interface RegistryFacts {
  /** In the words of RDAP, see statuses.ts. */
  statuses: string[]
  registered_at: number | null
  /** When the registration ends, according to the registry. */
  expires_at: number | null
  /** The same, according to the registrar. */
  registrar_expires_at: number | null
  changed_at: number | null
  registrar: { name: string | null; iana_id: number | null } | null
  /** A-labels in lowercase without a trailing dot. */
  nameservers: string[]
}

/** The result of one query. Only `found` and `absent` change what is known about a name. */
export type Reading =
  /** `related`: URL of the same domain at the RDAP server of its registrar. */
  { state: 'found'; facts: RegistryFacts; related: string | null } | { state: 'absent'; detail: string } | Unknown

interface Unknown {
  state: 'unknown'
  /** Why, as a sentence. */
  detail: string
  /** The server refuses further queries for now. */
  isThrottled?: boolean
  /** How long it asks to wait. */
  retryAfterMs?: number | null
  /** The server works, so that the failure says nothing about other names. */
  isAboutName?: boolean
}

export const unknown = (detail: string, more: Omit<Unknown, 'state' | 'detail'> = {}): Reading => ({
  state: 'unknown',
  detail,
  ...more,
})

/** Name servers of a name that are stored. */
const maxNameservers = 50
const maxRegistrarLength = 200

/** The names of name servers, each once. What is none is left out. */
export const nameserversOf = (texts: readonly string[]): string[] =>
  [...new Set(texts.map(text => text.toLowerCase().replace(/\.$/, '')).filter(isNameserver))].slice(0, maxNameservers)

const isNameserver = (name: string): boolean => /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name) && name.length <= 253

/** The name of a registrar, as a single line; null if there is none. */
export const registrarName = (text: unknown): string | null =>
  typeof text === 'string' ? oneLine(text, maxRegistrarLength) || null : null

/**
 * When the registration ends (ms UTC). Many registries add a year by themselves when a registration ends, and take it back if the registrar
 * doesn’t renew it within 45 days: until then, only the date of the registrar can be trusted.
 */
export function endOf({ expires_at, registrar_expires_at, statuses }: RegistryFacts): number | null {
  if (registrar_expires_at !== null) return registrar_expires_at
  return expires_at !== null && statuses.includes('auto renew period') ? yearBefore(expires_at) : expires_at
}

/** The same time a year earlier (ms UTC). */
export function yearBefore(at: number): number {
  const date = new Date(at)
  const day = date.getUTCDate()
  date.setUTCFullYear(date.getUTCFullYear() - 1)
  // February 29 becomes February 28.
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}
