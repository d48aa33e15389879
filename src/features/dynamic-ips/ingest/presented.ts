import { looksLikeIngestToken } from '../../../access/token-format'
import type { Pair } from './raw-query'

/** How a client sent its token. */
type PresentedBy = 'basic' | 'bearer' | 'query' | 'form' | 'path'

interface PresentedToken {
  token: string
  presentedBy: PresentedBy
}

/** The names of parameters with a token. */
export const tokenNames: ReadonlySet<string> = new Set(['token', 'key', 'password', 'pass', 'apikey'])

/** Where a request can have a token. */
interface TokenPlaces {
  authorization: string | null
  query: readonly Pair[]
  form: readonly Pair[]
  path: readonly Pair[]
}

/** The first well-formed token of a request. Values of another form, such as a password for another service, are ignored. */
export function presentedToken({ authorization, query, form, path }: TokenPlaces): PresentedToken | null {
  const basic = basicCredentials(authorization)
  const fromBasic = basic && (basic.password === '' || basic.password === 'x' ? basic.user : basic.password)
  const bearer = /^(?:Bearer|Token) +(\S+)$/i.exec(authorization ?? '')?.[1]
  const candidates: [PresentedBy, string][] = [
    ...(fromBasic ? [['basic', fromBasic] as [PresentedBy, string]] : []),
    ...(bearer ? [['bearer', bearer] as [PresentedBy, string]] : []),
    ...valuesOf(query).map((value): [PresentedBy, string] => ['query', value]),
    ...valuesOf(form).map((value): [PresentedBy, string] => ['form', value]),
    ...valuesOf(path).map((value): [PresentedBy, string] => ['path', value]),
  ]
  const found = candidates.find(([, value]) => looksLikeIngestToken(value, 'ddns'))
  return found ? { presentedBy: found[0], token: found[1] } : null
}

/** The user of Basic authentication, which some clients set to the host. Null: none, or the token itself. */
export function basicUser(authorization: string | null): string | null {
  const user = basicCredentials(authorization)?.user
  return user && !looksLikeIngestToken(user, 'ddns') ? user : null
}

const valuesOf = (pairs: readonly Pair[]): string[] => pairs.flatMap(([name, value]) => (tokenNames.has(name) ? [value] : []))

function basicCredentials(authorization: string | null): { user: string; password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/_=-]+) *$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined || encoded.length > maxBasicLength) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? { user: text, password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

// A host, a token, and some space.
const maxBasicLength = 2000
