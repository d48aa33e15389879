import type { OfferedGroup } from './facts'

/** A group for the key exchange (registry "TLS Supported Groups" of IANA). */
type NamedGroup = OfferedGroup

const curves: [id: number, name: string, bits: number][] = [
  [0x001d, 'x25519', 255],
  [0x0017, 'secp256r1', 256],
  [0x001e, 'x448', 448],
  [0x0018, 'secp384r1', 384],
  [0x0019, 'secp521r1', 521],
  [0x0029, 'curveSM2', 256],
  [0x001f, 'brainpoolP256r1tls13', 256],
  [0x0020, 'brainpoolP384r1tls13', 384],
  [0x0021, 'brainpoolP512r1tls13', 512],
]
const oldCurves: typeof curves = [
  [0x001a, 'brainpoolP256r1', 256],
  [0x001b, 'brainpoolP384r1', 384],
  [0x001c, 'brainpoolP512r1', 512],
  [0x0001, 'sect163k1', 163],
  [0x0002, 'sect163r1', 163],
  [0x0003, 'sect163r2', 163],
  [0x0004, 'sect193r1', 193],
  [0x0005, 'sect193r2', 193],
  [0x0006, 'sect233k1', 233],
  [0x0007, 'sect233r1', 233],
  [0x0008, 'sect239k1', 239],
  [0x0009, 'sect283k1', 283],
  [0x000a, 'sect283r1', 283],
  [0x000b, 'sect409k1', 409],
  [0x000c, 'sect409r1', 409],
  [0x000d, 'sect571k1', 571],
  [0x000e, 'sect571r1', 571],
  [0x000f, 'secp160k1', 160],
  [0x0010, 'secp160r1', 160],
  [0x0011, 'secp160r2', 160],
  [0x0012, 'secp192k1', 192],
  [0x0013, 'secp192r1', 192],
  [0x0014, 'secp224k1', 224],
  [0x0015, 'secp224r1', 224],
  [0x0016, 'secp256k1', 256],
]
const hybrids: typeof curves = [
  [0x11ec, 'X25519MLKEM768', 255],
  [0x11eb, 'SecP256r1MLKEM768', 256],
  [0x11ed, 'SecP384r1MLKEM1024', 384],
  [0x11ee, 'curveSM2MLKEM768', 256],
  // Before ML-KEM was standardized.
  [0x6399, 'X25519Kyber768Draft00', 255],
  [0x639a, 'SecP256r1Kyber768Draft00', 256],
]
const primes: typeof curves = [
  [0x0100, 'ffdhe2048', 2048],
  [0x0101, 'ffdhe3072', 3072],
  [0x0102, 'ffdhe4096', 4096],
  [0x0103, 'ffdhe6144', 6144],
  [0x0104, 'ffdhe8192', 8192],
]
// The size of the key, as ML-KEM has neither a curve nor a prime.
const lattices: typeof curves = [
  [0x0200, 'MLKEM512', 512],
  [0x0201, 'MLKEM768', 768],
  [0x0202, 'MLKEM1024', 1024],
]

const named = (kind: NamedGroup['kind'], list: typeof curves): NamedGroup[] =>
  list.map(([id, name, bits]) => ({ id, name, kind, bits }))

const all = [
  ...named('hybrid', hybrids),
  ...named('mlkem', lattices),
  ...named('ec', curves),
  ...named('ec', oldCurves),
  ...named('dh', primes),
]

/** Groups by number. */
export const groupOf: ReadonlyMap<number, NamedGroup> = new Map(all.map(one => [one.id, one]))

const of13 = new Set([...hybrids, ...lattices, ...curves, ...primes].map(([id]) => id))
const onlyOf13 = new Set([0x0029, 0x001f, 0x0020, 0x0021])

/** Numbers of the groups to offer in TLS 1.3. */
export const groups13: readonly number[] = all.filter(one => of13.has(one.id)).map(one => one.id)
/**
 * Numbers of the groups to offer in older versions: curves alone, because a server that knows named primes must not use its own for DHE
 * with a client that offers some (RFC 7919 section 4).
 */
export const groupsBefore13: readonly number[] = all.filter(one => one.kind === 'ec' && !onlyOf13.has(one.id)).map(one => one.id)
