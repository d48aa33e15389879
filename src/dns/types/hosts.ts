import { ipv4, ipv6 } from '../fields/addresses'
import { domain, host, properName } from '../fields/names'
import { span, u16, u32 } from '../fields/numbers'
import { broken, recordType, type RecordType } from './record-type'

/** Types for addresses, other names, and servers. */
export const hostTypes: RecordType[] = [
  recordType('A', 'RFC 1035 3.4.1', { address: ipv4 }),
  recordType('AAAA', 'RFC 3596 2.2', { address: ipv6 }),
  recordType('CNAME', 'RFC 1035 3.3.1', { target: domain }),
  recordType('ALIAS', 'PowerDNS, ALIAS records', { target: properName }),
  recordType('DNAME', 'RFC 6672 2.1', { target: domain }),
  recordType('NS', 'RFC 1035 3.3.11', { target: host }),
  recordType('PTR', 'RFC 1035 3.3.12', { target: domain }),
  recordType('MX', 'RFC 1035 3.3.9', { preference: u16, exchange: host }, ({ preference, exchange }) => {
    if (exchange === '.' && preference !== 0) {
      throw broken('preference', 'must be 0 if exchange is ".", which means that the name accepts no mail', 'RFC 7505 3')
    }
  }),
  recordType('SRV', 'RFC 2782', { priority: u16, weight: u16, port: u16, target: host }),
  recordType('SOA', 'RFC 1035 3.3.13', {
    mname: domain,
    rname: domain,
    serial: u32,
    refresh: span,
    retry: span,
    expire: span,
    minimum: span,
  }),
  recordType('AFSDB', 'RFC 1183 1', { subtype: u16, hostname: host }),
  recordType('RP', 'RFC 1183 2.2', { mbox: domain, txt: domain }),
]
