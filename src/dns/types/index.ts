import { DnsFormatError, ofField } from '../format-error'
import { hexOctets, hexText } from '../octets'
import { isMetaType, typeCode, typeName } from '../type-codes'
import { hostTypes } from './hosts'
import { keyTypes } from './keys'
import { location } from './location'
import { textIn } from '../fields/field'
import { memberOf, objectIn, refuseOthers, type RecordType } from './record-type'
import { serviceBindingTypes } from './service-bindings'
import { signedZoneTypes } from './signed-zones'
import { textTypes } from './texts'

/** All record types with structured fields. */
export const recordTypes: readonly RecordType[] = [
  ...hostTypes,
  ...textTypes,
  ...keyTypes,
  ...serviceBindingTypes,
  ...signedZoneTypes,
  location,
]

const byName = new Map(recordTypes.map(type => [type.name, type]))

/**
 * Finds a type by mnemonic or `TYPEnnn`, case-insensitive. A type without structured fields has its octets in hexadecimal as `rdata`.
 * @throws DnsFormatError for unknown types, and for types that zones can't contain
 */
export function recordTypeOf(name: string): RecordType {
  const known = byName.get(name)
  if (known) return known
  const code = typeCode(name)
  if (isMetaType(code))
    throw new DnsFormatError(`${typeName(code)} is a query type or meta type, not a record type`, null, 'RFC 6895 3.1')
  return byName.get(typeName(code)) ?? unknownType(typeName(code))
}

function unknownType(name: string): RecordType {
  return {
    name,
    reference: 'RFC 3597 5',
    fields: ['rdata'],
    parse() {
      throw new DnsFormatError(`The value of ${name} must be written as \\# length hexadecimal`, null, 'RFC 3597 5')
    },
    print: fields => genericText(hexOctets(fields.rdata as string)),
    read: reader => ({ rdata: hexText(reader.rest()) }),
    write: (writer, fields) => writer.octets(hexOctets(fields.rdata as string)),
    check(value) {
      const input = objectIn(name, value)
      refuseOthers(name, input, ['rdata'])
      return { rdata: ofField('rdata', 'RFC 3597 5', () => hexText(hexOctets(textIn(memberOf(input, 'rdata'))))) }
    },
  }
}

/** Formats any rdata in the generic format (RFC 3597 section 5). */
export function genericText(rdata: Uint8Array): string {
  return rdata.length === 0 ? '\\# 0' : `\\# ${rdata.length} ${hexText(rdata)}`
}
