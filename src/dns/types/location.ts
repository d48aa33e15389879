import { DnsFormatError, ofField } from '../format-error'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'
import { memberOf, objectIn, refuseOthers, type Fields, type RecordType } from './record-type'

// A geographic location (RFC 1876). Angles are thousandths of a second of arc, lengths are centimeters, and the altitude is relative to
// 100 km below the reference spheroid. Sizes are one digit and a power of ten.
const REFERENCE = 'RFC 1876 2'
const EQUATOR = 2 ** 31
const SPHEROID = 10_000_000
const AXES = [
  { prefix: 'lat', max: 90, positive: 'N', negative: 'S' },
  { prefix: 'long', max: 180, positive: 'E', negative: 'W' },
] as const
const SIZES = { size: 100, precision_horz: 1_000_000, precision_vert: 1_000 } as const
const SIZE_MAX = 9e9
const ALTITUDE_MAX = 0xffffffff - SPHEROID

const FIELDS = [
  ...AXES.flatMap(({ prefix }) => ['degrees', 'minutes', 'seconds', 'direction'].map(part => `${prefix}_${part}`)),
  'altitude',
  ...Object.keys(SIZES),
]

/** In JSON: `lat_degrees`, `lat_minutes`, `lat_seconds`, `lat_direction`, the same with `long_`, then meters. */
export const location: RecordType = {
  name: 'LOC',
  reference: REFERENCE,
  fields: FIELDS,
  parse(words) {
    const fields: Fields = {}
    for (const axis of AXES)
      Object.assign(
        fields,
        ofField(`${axis.prefix}_degrees`, REFERENCE, () => angleIn(words, axis)),
      )
    fields.altitude = ofField('altitude', REFERENCE, () => metersIn(words.next().text, true) / 100)
    for (const [name, centimeters] of Object.entries(SIZES)) {
      fields[name] = ofField(
        name,
        REFERENCE,
        () => (words.left > 0 ? rounded(metersIn(words.next().text, false)) : centimeters) / 100,
      )
    }
    return location.check(fields, null)
  },
  print(fields) {
    const angles = AXES.map(({ prefix }) => {
      const [degrees, minutes, seconds, direction] = partsOf(fields, prefix)
      return `${degrees} ${minutes} ${seconds.toFixed(3)} ${direction}`
    })
    const lengths = ['altitude', ...Object.keys(SIZES)].map(name => `${(fields[name] as number).toFixed(2)}m`)
    return [...angles, ...lengths].join(' ')
  },
  read(reader) {
    if (ofField('LOC', REFERENCE, () => reader.u8()) !== 0) throw new DnsFormatError('LOC must be of version 0', null, REFERENCE)
    const sizes = Object.keys(SIZES).map(name => [name, ofField(name, REFERENCE, () => sizeOf(reader.u8()) / 100)])
    const angles = AXES.map(axis => ofField(`${axis.prefix}_degrees`, REFERENCE, () => angleOf(reader, axis)))
    const altitude = ofField('altitude', REFERENCE, () => (reader.u32() - SPHEROID) / 100)
    return { ...angles[0], ...angles[1], altitude, ...Object.fromEntries(sizes) }
  },
  write(writer, fields) {
    writer.u8(0)
    for (const name of Object.keys(SIZES)) writer.u8(sizeOctet(Math.round((fields[name] as number) * 100)))
    for (const axis of AXES) writeAngle(writer, fields, axis)
    writer.u32(Math.round((fields.altitude as number) * 100) + SPHEROID)
  },
  check(value) {
    const input = objectIn('LOC', value)
    refuseOthers('LOC', input, FIELDS)
    const fields: Fields = {}
    for (const name of FIELDS) fields[name] = ofField(name, REFERENCE, () => checked(name, memberOf(input, name)))
    for (const { prefix, max } of AXES) {
      const [degrees, minutes, seconds] = partsOf(fields, prefix)
      if (degrees === max && (minutes > 0 || seconds > 0)) {
        throw new DnsFormatError(`must be at most ${max} degrees, including minutes and seconds`, `${prefix}_degrees`, REFERENCE)
      }
    }
    return fields
  },
}

type Axis = (typeof AXES)[number]

function checked(name: string, value: unknown): unknown {
  const axis = AXES.find(({ prefix }) => name.startsWith(`${prefix}_`))
  if (axis && name.endsWith('_direction')) {
    if (value !== axis.positive && value !== axis.negative)
      throw new DnsFormatError(`must be ${axis.positive} or ${axis.negative}`)
    return value
  }
  if (name.endsWith('_degrees')) return decimal(value, 0, axis!.max, 0)
  if (name.endsWith('_minutes')) return decimal(value, 0, 59, 0)
  if (name.endsWith('_seconds')) return decimal(value, 0, 59.999, 3)
  if (name === 'altitude') return decimal(value, -SPHEROID / 100, ALTITUDE_MAX / 100, 2)
  const meters = decimal(value, 0, SIZE_MAX / 100, 2)
  const centimeters = Math.round(meters * 100)
  if (rounded(centimeters) !== centimeters)
    throw new DnsFormatError('must be one digit followed by zeros in centimeters, such as 0.5, 10, or 2000')
  return meters
}

function decimal(value: unknown, min: number, max: number, places: number): number {
  const scale = 10 ** places
  if (typeof value !== 'number' || !(value >= min && value <= max) || Math.round(value * scale) / scale !== value) {
    const precise = places === 0 ? 'a whole number' : `a number with at most ${places} decimals`
    throw new DnsFormatError(`must be ${precise} between ${min} and ${max}`)
  }
  // JSON has no negative zero.
  return value === 0 ? 0 : value
}

/** Parses degrees, optional minutes and seconds, and a direction. */
function angleIn(words: Words, { prefix, positive, negative }: Axis): Fields {
  const numbers: number[] = []
  for (;;) {
    const { text } = words.next()
    const direction = text.toUpperCase()
    if (numbers.length > 0 && (direction === positive || direction === negative)) {
      const [degrees = 0, minutes = 0, seconds = 0] = numbers
      return {
        [`${prefix}_degrees`]: degrees,
        [`${prefix}_minutes`]: minutes,
        [`${prefix}_seconds`]: seconds,
        [`${prefix}_direction`]: direction,
      }
    }
    const pattern = numbers.length === 2 ? /^\d{1,2}(\.\d{1,3})?$/ : /^\d{1,3}$/
    if (numbers.length === 3 || !pattern.test(text)) {
      throw new DnsFormatError(`must be degrees, minutes, and seconds, then ${positive} or ${negative}`)
    }
    numbers.push(Number(text))
  }
}

/** Parses meters, with an optional “m”, to centimeters. */
function metersIn(text: string, signed: boolean): number {
  if (!(signed ? /^-?\d{1,8}(\.\d{1,2})?m?$/i : /^\d{1,8}(\.\d{1,2})?m?$/i).test(text)) {
    throw new DnsFormatError('must be meters with at most 2 decimals, such as 10m')
  }
  return Math.round(Number(text.replace(/m$/i, '')) * 100)
}

/** Keeps the first digit, like the example code of RFC 1876. */
function rounded(centimeters: number): number {
  return sizeOf(sizeOctet(centimeters))
}

function sizeOctet(centimeters: number): number {
  let power = 0
  let digit = centimeters
  while (digit >= 10) {
    digit = Math.floor(digit / 10)
    power++
  }
  return (digit << 4) | power
}

function sizeOf(octet: number): number {
  const [digit, power] = [octet >> 4, octet & 15]
  // Zero has one encoding, so that each value has only one.
  if (digit > 9 || power > 9 || (digit === 0 && power > 0))
    throw new DnsFormatError('must be encoded as two decimal digits: a base and a power of ten')
  return digit * 10 ** power
}

function angleOf(reader: WireReader, { prefix, max, positive, negative }: Axis): Fields {
  const angle = reader.u32() - EQUATOR
  const size = Math.abs(angle)
  if (size > max * 3_600_000) throw new DnsFormatError(`must be at most ${max} degrees`)
  return {
    [`${prefix}_degrees`]: Math.floor(size / 3_600_000),
    [`${prefix}_minutes`]: Math.floor(size / 60_000) % 60,
    [`${prefix}_seconds`]: (size % 60_000) / 1000,
    [`${prefix}_direction`]: angle < 0 ? negative : positive,
  }
}

function writeAngle(writer: WireWriter, fields: Fields, { prefix, positive }: Axis): void {
  const [degrees, minutes, seconds, direction] = partsOf(fields, prefix)
  const size = degrees * 3_600_000 + minutes * 60_000 + Math.round(seconds * 1000)
  writer.u32(EQUATOR + (direction === positive ? size : -size))
}

function partsOf(fields: Fields, prefix: string): [number, number, number, string] {
  return ['degrees', 'minutes', 'seconds', 'direction'].map(part => fields[`${prefix}_${part}`]) as [
    number,
    number,
    number,
    string,
  ]
}
