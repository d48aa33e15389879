import { DnsFormatError } from '../format-error'
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

/** Every record type with fields of its own. */
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
 * What is known of a type, by mnemonic or `TYPEnnn` in any case; a type without fields of its own has its octets in
 * hexadecimal as `rdata`. @throws DnsFormatError for what is no type, and for types that no zone has records of
 */
export function recordTypeOf(name: string): RecordType {
  const known = byName.get(name)
  if (known) return known
  const code = typeCode(name)
  if (isMetaType(code))
    throw new DnsFormatError(`${typeName(code)} is a type of questions or messages, not of records`, null, 'RFC 6895 3.1')
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
      const given = objectIn(name, value)
      refuseOthers(name, given, ['rdata'])
      try {
        return { rdata: hexText(hexOctets(textIn(memberOf(given, 'rdata')))) }
      } catch (error) {
        throw error instanceof DnsFormatError ? error.within('rdata', 'RFC 3597 5') : error
      }
    },
  }
}

/** Rdata of whatever type as text (RFC 3597 5). */
export function genericText(rdata: Uint8Array): string {
  return rdata.length === 0 ? '\\# 0' : `\\# ${rdata.length} ${hexText(rdata)}`
}
