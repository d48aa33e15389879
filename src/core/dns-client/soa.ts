import { DnsFormatError } from '../dns/format-error'
import { CLASS, message, RCODE } from '../dns/message'
import { sameName } from '../dns/name'
import { fieldsOf } from '../dns/rdata'
import { ask, type Asking } from './ask'
import { AskFailed } from './failure'
import type { NameServerAsked } from './server'

/** What a server says of a zone: its serial, or the code of an answer that has no SOA of it. */
export type SoaAnswer = { serial: number } | { serial: null; rcode: number }

/**
 * Asks a server for the SOA of a zone that it is responsible for.
 * @param zone absolute
 * @throws AskFailed
 */
export async function askSoa(server: NameServerAsked, zone: string, asking: Asking = {}): Promise<SoaAnswer> {
  const question = [{ name: zone, type: 'SOA', class: CLASS.IN }]
  const { rcode, flags, answer } = await ask(server, message({ id: 0, question }), asking)
  const soa = answer.find(({ name, type }) => type === 'SOA' && sameName(name, zone))
  if (rcode !== RCODE.NOERROR || !flags.aa || !soa) return { serial: null, rcode }
  return { serial: serialOf(soa.rdata) }
}

/** The serial in the rdata of an SOA that a server gave. @throws AskFailed `invalid_answer` */
export function serialOf(rdata: Uint8Array): number {
  try {
    return fieldsOf('SOA', rdata).serial as number
  } catch (error) {
    if (error instanceof DnsFormatError) throw new AskFailed('invalid_answer', 'The SOA of the server is none.', true)
    throw error
  }
}
