import { catchFormatError } from '../format-error'
import { CLASS, message, RCODE } from '../message'
import { sameName } from '../name'
import { fieldsOf } from '../rdata'
import { queryServer, type QueryOptions } from './query-server'
import { QueryFailed } from './failure'
import type { QueriedServer } from './server'

/** Serial of a zone, or the RCODE of a response without its SOA. */
type SoaAnswer = { serial: number } | { serial: null; rcode: number }

/**
 * Queries the SOA of a zone from an authoritative server.
 * @param zone absolute
 * @throws QueryFailed
 */
export async function querySoa(server: QueriedServer, zone: string, options: QueryOptions = {}): Promise<SoaAnswer> {
  const question = [{ name: zone, type: 'SOA', class: CLASS.IN }]
  const { rcode, flags, answer } = await queryServer(server, message({ id: 0, question }), options)
  const soa = answer.find(({ name, type }) => type === 'SOA' && sameName(name, zone))
  if (rcode !== RCODE.NOERROR || !flags.aa || !soa) return { serial: null, rcode }
  return { serial: serialOf(soa.rdata) }
}

/** Serial in the rdata of an SOA from a server. @throws QueryFailed `invalid_response` */
export const serialOf = (rdata: Uint8Array): number =>
  catchFormatError(
    () => fieldsOf('SOA', rdata).serial as number,
    () => {
      throw new QueryFailed('invalid_response', 'The SOA record is invalid.', true)
    },
  )
