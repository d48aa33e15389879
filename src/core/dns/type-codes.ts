import { DnsFormatError } from './format-error'

// From the registry "Resource Record (RR) TYPEs" of IANA. ALIAS is of nobody's registry: 65401 is the code of PowerDNS.
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
const NAMES = new Map(Object.entries(CODES).map(([name, code]) => [code, name]))

/** The code of a mnemonic or of `TYPEnnn` (RFC 3597 5), in any case. @throws DnsFormatError for what is neither */
export function typeCode(name: string): number {
  const code = codeOf(name) ?? codeOf(name.toUpperCase())
  if (code === null) throw new DnsFormatError(`"${name.slice(0, 32)}" is not a record type`, null, 'RFC 3597 5')
  return code
}

/** The mnemonic of a code, or `TYPEnnn` where there is none. */
export function typeName(code: number): string {
  return NAMES.get(code) ?? `TYPE${code}`
}

/** True for a mnemonic or `TYPEnnn`. */
export const isTypeName = (name: string): boolean => codeOf(name.toUpperCase()) !== null

/** True for codes of questions and of single messages (RFC 6895 3.1), and for OPT: no zone has records of them. */
export const isMetaType = (code: number): boolean => code === 0 || code === 41 || (code >= 128 && code <= 255)

function codeOf(name: string): number | null {
  const known = Object.hasOwn(CODES, name) ? CODES[name]! : null
  if (known !== null || !/^TYPE(0|[1-9]\d{0,4})$/.test(name)) return known
  const code = Number(name.slice(4))
  return code <= 0xffff ? code : null
}
