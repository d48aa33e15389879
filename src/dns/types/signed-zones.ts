import { base32Hex, base64, hex, salt } from '../fields/binary'
import type { FieldKind } from '../fields/field'
import { domain } from '../fields/names'
import { moment, u16, u32, u8 } from '../fields/numbers'
import { typeBitmap } from '../fields/type-bitmap'
import { textIn } from '../fields/field'
import { typeCode, typeName } from '../type-codes'
import { algorithm, sized } from './keys'
import { recordType, type RecordType } from './record-type'

const type: FieldKind<string> = {
  parse: words => typeName(typeCode(words.next().text)),
  print: value => value,
  read: reader => typeName(reader.u16()),
  write: (writer, value) => writer.u16(typeCode(value)),
  check: value => typeName(typeCode(textIn(value))),
}
const iterated = { hash_algorithm: u8, flags: u8, iterations: u16, salt }

/** Additional types in signed zones, which occur in transfers. */
export const signedZoneTypes: RecordType[] = [
  recordType('RRSIG', 'RFC 4034 3.1', {
    type_covered: type,
    algorithm,
    labels: u8,
    original_ttl: u32,
    expiration: moment,
    inception: moment,
    key_tag: u16,
    signer: domain,
    signature: base64,
  }),
  recordType('NSEC', 'RFC 4034 4.1', { next_domain: domain, types: typeBitmap }),
  recordType('NSEC3', 'RFC 5155 3.2', { ...iterated, next_hashed_owner: base32Hex, types: typeBitmap }),
  recordType('NSEC3PARAM', 'RFC 5155 4.2', iterated),
  recordType('CSYNC', 'RFC 7477 2.1.1', { serial: u32, flags: u16, types: typeBitmap }),
  // SHA-384 and SHA-512.
  recordType(
    'ZONEMD',
    'RFC 8976 2.2',
    { serial: u32, scheme: u8, hash_algorithm: u8, digest: hex },
    sized('digest', { 1: 48, 2: 64 }, 'hash_algorithm', 'RFC 8976 2.2.4'),
  ),
]
