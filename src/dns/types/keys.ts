import { base64, hex } from '../fields/binary'
import { ruled } from '../fields/field'
import { mnemonic, u16, u8 } from '../fields/numbers'
import { DnsFormatError } from '../format-error'
import { hexOctets } from '../octets'
import { broken, recordType, type FieldsRule, type RecordType } from './record-type'

/** IANA registry “DNS Security Algorithm Numbers”. */
const ALGORITHMS: Record<string, number> = {
  DELETE: 0,
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  DSANSEC3SHA1: 6,
  NSEC3DSA: 6,
  RSASHA1NSEC3SHA1: 7,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
}
export const algorithm = mnemonic(u8, ALGORITHMS)

// IANA registry “CERT RR Certificate Types”.
const certificateType = mnemonic(u16, {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
})

/** Checks the size of a digest, given the field with its digest type; other types can have any size. */
export const sized = (field: string, sizes: Record<number, number>, numberField: string, reference: string): FieldsRule => {
  return fields => {
    const size = sizes[fields[numberField] as number]
    const input = hexOctets(fields[field] as string).length
    if (size !== undefined && input !== size) {
      throw broken(field, `must be ${size} octets if ${numberField} is ${fields[numberField]}, but has ${input}`, reference)
    }
  }
}

const DS_DIGESTS = { 1: 20, 2: 32, 3: 32, 4: 48, 5: 32, 6: 32 }
const dsFields = { key_tag: u16, algorithm, digest_type: u8, digest: hex }
const dsDigest = sized('digest', DS_DIGESTS, 'digest_type', 'RFC 4034 5.1.4')

const protocol = ruled(u8, value => {
  if (value !== 3) throw new DnsFormatError('must be 3', null, 'RFC 4034 2.1.2')
})
const keyFields = { flags: u16, protocol, algorithm, public_key: base64 }

const certificateFields = { usage: u8, selector: u8, matching_type: u8, certificate_data: hex }
// Full certificates and keys (0) can have any size; 1 is SHA-256, 2 is SHA-512.
const certificateDigest = sized('certificate_data', { 1: 32, 2: 64 }, 'matching_type', 'RFC 6698 2.1.3')

/** Types for keys, certificates, and their digests. */
export const keyTypes: RecordType[] = [
  recordType('TLSA', 'RFC 6698 2.1', certificateFields, certificateDigest),
  recordType('SMIMEA', 'RFC 8162 2', certificateFields, certificateDigest),
  recordType(
    'SSHFP',
    'RFC 4255 3.1',
    { algorithm: u8, fingerprint_type: u8, fingerprint: hex },
    sized('fingerprint', { 1: 20, 2: 32 }, 'fingerprint_type', 'RFC 6594 4'),
  ),
  recordType('DS', 'RFC 4034 5.1', dsFields, dsDigest),
  // 0 0 0 00 asks the parent to delete its DS.
  recordType('CDS', 'RFC 7344 3.1', dsFields, fields => {
    if (fields.algorithm !== 0) return dsDigest(fields)
    if (fields.key_tag !== 0 || fields.digest_type !== 0 || fields.digest !== '00') {
      throw broken('algorithm', 'must not be 0, except in "0 0 0 00", which deletes the DS records at the parent', 'RFC 8078 4')
    }
  }),
  recordType('DNSKEY', 'RFC 4034 2.1', keyFields),
  recordType('CDNSKEY', 'RFC 7344 3.2', keyFields),
  recordType('OPENPGPKEY', 'RFC 7929 2.1', { public_key: base64 }),
  recordType('CERT', 'RFC 4398 2', { cert_type: certificateType, key_tag: u16, algorithm, certificate: base64 }),
  recordType('DHCID', 'RFC 4701 3.1', { identifier: base64 }),
]
