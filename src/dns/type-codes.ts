import { DnsFormatError } from './format-error'

// From the IANA registry “Resource Record (RR) TYPEs”. ALIAS is not registered: 65401 is the code of PowerDNS.
const CODES: Record<string, number> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  SSHFP: 44,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  URI: 256,
  CAA: 257,
  ALIAS: 65401,
}
// From the same registry: types that are stored only in the generic format of RFC 3597.
const WITHOUT_FORM: Record<string, number> = {
  MD: 3,
  MF: 4,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  MINFO: 14,
  X25: 19,
  ISDN: 20,
  RT: 21,
  NSAP: 22,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  ATMA: 34,
  KX: 36,
  A6: 38,
  SINK: 40,
  APL: 42,
  IPSECKEY: 45,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  AVC: 258,
  DOA: 259,
  AMTRELAY: 260,
  TA: 32768,
  DLV: 32769,
}
const NAMES = new Map(Object.entries(CODES).map(([name, code]) => [code, name]))

/** Code of a mnemonic or `TYPEnnn` (RFC 3597 section 5), case-insensitive. @throws DnsFormatError for anything else */
export function typeCode(name: string): number {
  const code = codeOf(name) ?? codeOf(name.toUpperCase())
  if (code !== null) return code
  const numbered = codeWithoutForm(name)
  if (numbered !== null)
    throw new DnsFormatError(
      `${name.toUpperCase()} has no supported text format. Write it as TYPE${numbered}`,
      null,
      'RFC 3597 5',
    )
  throw new DnsFormatError(`"${name.slice(0, 32)}" is not a record type`, null, 'RFC 3597 5')
}

/** Mnemonic of a code, or `TYPEnnn`. */
export function typeName(code: number): string {
  return NAMES.get(code) ?? `TYPE${code}`
}

/** True for a mnemonic or `TYPEnnn`. */
export const isTypeName = (name: string): boolean => codeOf(name.toUpperCase()) !== null

/** Code of a registered type that is only supported in the generic format; null for others. */
export const codeWithoutForm = (name: string): number | null => {
  const upper = name.toUpperCase()
  return Object.hasOwn(WITHOUT_FORM, upper) ? WITHOUT_FORM[upper]! : null
}

/** True for query types and meta types (RFC 6895 section 3.1), and for OPT: zones have no such records. */
export const isMetaType = (code: number): boolean => code === 0 || code === 41 || (code >= 128 && code <= 255)

function codeOf(name: string): number | null {
  const known = Object.hasOwn(CODES, name) ? CODES[name]! : null
  if (known !== null || !/^TYPE(0|[1-9]\d{0,4})$/.test(name)) return known
  const code = Number(name.slice(4))
  return code <= 0xffff ? code : null
}
