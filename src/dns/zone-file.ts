import { catchFormatError, DnsFormatError, ofField } from './format-error'
import { parseName } from './name'
import { rdataOfWords } from './rdata'
import { looksLikeTtl, parseTtl } from './ttl'
import { codeWithoutForm, isTypeName } from './type-codes'
import { recordTypeOf } from './types'
import { linesOf, WordError, Words, type Line, type Word } from './words'
import { generatedLines, GENERATED_MAX } from './zone-generate'

/** A record of a zone, of class IN. */
export interface ZoneRecord {
  /** Absolute, in its original case. */
  readonly name: string
  readonly type: string
  /** Seconds. */
  readonly ttl: number
  readonly rdata: Uint8Array
}

/** An error in a zone file with its position: line and column count from 1, columns in UTF-16 code units. */
export class ZoneFileError extends DnsFormatError {
  override readonly name = 'ZoneFileError'

  constructor(
    cause: DnsFormatError,
    readonly line: number,
    readonly column: number,
  ) {
    super(cause.rule, cause.field, cause.reference)
    this.message = `line ${line}, column ${column}: ${cause.message}`
  }
}

export interface ZoneFileOptions {
  /** Origin until the first `$ORIGIN`; null rejects relative names. */
  origin: string | null
  /** TTL in seconds for records without one; null rejects them. */
  defaultTtl?: number | null
  /** Called for each invalid line. Return true to continue with the next line; otherwise the error is thrown. */
  broken?(error: ZoneFileError): boolean
}

/**
 * Parses a zone file (RFC 1035 section 5, with `$TTL` of RFC 2308 section 4, generic values of RFC 3597, and `$GENERATE` of BIND) record by
 * record, in linear time and memory. Doesn't validate the zone: names may be outside it, and records may be duplicate or conflicting.
 * @throws ZoneFileError at the first error, and always for an unclosed quote or parenthesis
 */
export function* readZoneFile(text: string, options: ZoneFileOptions): Generator<ZoneRecord & { line: number }> {
  const state = new ZoneFileState(options)
  let counted = 0
  let line = 1
  const lineAt = (at: number) => {
    for (let end = text.indexOf('\n', counted); end >= 0 && end < at; end = text.indexOf('\n', counted)) {
      counted = end + 1
      line++
    }
    return line
  }
  const errorOf = (error: DnsFormatError): ZoneFileError => {
    const at = error instanceof WordError ? error.at : (state.blamed?.at ?? 0)
    const before = text.slice(0, at)
    return new ZoneFileError(error, before.split('\n').length, at - before.lastIndexOf('\n'))
  }
  try {
    for (const one of linesOf(text)) {
      const number = lineAt(one.words[0]!.at)
      try {
        for (const record of state.read(one)) yield { ...record, line: number }
      } catch (error) {
        if (!(error instanceof DnsFormatError) || !options.broken?.(errorOf(error))) throw error
      }
    }
  } catch (error) {
    throw error instanceof DnsFormatError ? errorOf(error) : error
  }
}

const CLASSES = /^(?:IN|CH|CS|HS|CLASS\d+)$/i

class ZoneFileState {
  #origin: string | null
  #owner: string | null = null
  #ttl: number | null = null
  #lastTtl: number | null
  #generated = 0
  #words = new Words([], null)
  #directive: Word | undefined

  constructor({ origin, defaultTtl = null }: ZoneFileOptions) {
    this.#origin = origin
    this.#lastTtl = defaultTtl
  }

  /** The word at which parsing stopped; for lines created by a directive, the directive. */
  get blamed(): Word | undefined {
    return this.#directive ?? this.#words.current
  }

  *read({ words, indented }: Line): Generator<ZoneRecord> {
    this.#words = new Words(words, this.#origin)
    const first = words[0]!
    if (first.quoted || !first.text.startsWith('$')) {
      yield this.#record(indented)
      return
    }
    const directive = this.#words.next().text.toUpperCase()
    if (directive === '$ORIGIN') this.#origin = parseName(this.#words.next().text, this.#origin)
    else if (directive === '$TTL') this.#ttl = ttlIn(this.#words.next().text)
    else if (directive === '$GENERATE') yield* this.#generate(first)
    else if (directive === '$INCLUDE') {
      throw new DnsFormatError('$INCLUDE is not supported. Insert the content of the included file instead', null, 'RFC 1035 5.1')
    } else
      throw new DnsFormatError(
        `Unknown directive ${first.text.slice(0, 32)}. Supported: $ORIGIN, $TTL and $GENERATE`,
        null,
        'RFC 1035 5.1',
      )
    if (this.#words.left > 0) throw new DnsFormatError(`Unexpected "${this.#words.next().text.slice(0, 64)}" after ${directive}`)
  }

  *#generate(directive: Word): Generator<ZoneRecord> {
    const lines = generatedLines(this.#words, GENERATED_MAX - this.#generated)
    for (const words of lines) {
      this.#generated++
      this.#directive = directive
      const rest = this.#words
      this.#words = new Words(words, this.#origin)
      yield this.#record(false)
      this.#words = rest
      this.#directive = undefined
    }
  }

  #record(indented: boolean): ZoneRecord {
    const words = this.#words
    if (!indented) this.#owner = ownerIn(words)
    if (this.#owner === null)
      throw new DnsFormatError('The first record must have a name: its line must not start with whitespace', null, 'RFC 1035 5.1')
    const name = this.#owner
    const ttl = ttlAndClass(words)
    if (words.left === 0) throw new DnsFormatError('The record type is missing', null, 'RFC 1035 5.1')
    const typeWord = words.next()
    if (typeWord.quoted || !isTypeName(typeWord.text)) {
      const code = typeWord.quoted ? null : codeWithoutForm(typeWord.text)
      if (code !== null)
        throw new DnsFormatError(
          `${typeWord.text.toUpperCase()} has no supported text format. Write it as TYPE${code} \\# and its octets`,
          null,
          'RFC 3597 5',
        )
      throw new DnsFormatError(`"${typeWord.text.slice(0, 64)}" is not a TTL, a class, or a record type`, null, 'RFC 1035 5.1')
    }
    const type = recordTypeOf(typeWord.text).name
    const rdata = rdataOfWords(type, words)
    if (ttl !== null) this.#lastTtl = ttl
    return { name, type, ttl: ttl ?? this.#ttl ?? this.#lastTtl ?? this.#soaTtl(type, rdata), rdata }
  }

  /** Without any other TTL, the SOA and the records after it use its last field. */
  #soaTtl(type: string, rdata: Uint8Array): number {
    if (type !== 'SOA') throw new DnsFormatError('The record must have a TTL, or $TTL must come before it', null, 'RFC 2308 4')
    this.#lastTtl = Math.min(Buffer.from(rdata.subarray(-4)).readUInt32BE(), 0x7fffffff)
    return this.#lastTtl
  }
}

function ownerIn(words: Words): string {
  const word = words.next()
  if (word.quoted) throw new DnsFormatError('The name of a record must not be in quotes', null, 'RFC 1035 5.1')
  return catchFormatError(
    () => parseName(word.text, words.origin),
    ({ rule, reference }) => {
      throw new DnsFormatError(`The name of a record ${rule}`, null, reference)
    },
  )
}

/** Parses the optional TTL and class in either order. */
function ttlAndClass(words: Words): number | null {
  let ttl: number | null = null
  let hasClass = false
  for (let word = words.peek(); word !== undefined && !word.quoted; word = words.peek()) {
    if (!hasClass && CLASSES.test(word.text)) {
      words.next()
      if (!/^(IN|CLASS1)$/i.test(word.text))
        throw new DnsFormatError(`The class must be IN, not ${word.text}`, null, 'RFC 1035 3.2.4')
      hasClass = true
    } else if (ttl === null && looksLikeTtl(word.text)) {
      words.next()
      ttl = ttlIn(word.text)
    } else break
  }
  return ttl
}

const ttlIn = (text: string): number => ofField('ttl', 'RFC 2181 8', () => parseTtl(text))
