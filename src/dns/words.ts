import { DnsFormatError } from './format-error'

/** A word of presentation text, separated by whitespace or quotes. Escapes are not decoded yet. */
export interface Word {
  readonly text: string
  readonly quoted: boolean
  /** True if it directly follows the previous word: `alpn="h2"` is two words. */
  readonly glued: boolean
  /** Offset in the text. */
  readonly at: number
}

/** A line of a zone file, which parentheses can extend over several. */
export interface Line {
  readonly words: Word[]
  /** True if it starts with whitespace, which means the owner of the previous line (RFC 1035 section 5.1). */
  readonly indented: boolean
}

/** An error while splitting text into words. */
export class WordError extends DnsFormatError {
  constructor(
    rule: string,
    readonly at: number,
  ) {
    super(rule, null, 'RFC 1035 5.1')
  }
}

/** Splits a zone file into lines of words in one pass: parentheses, comments, quotes, escapes. Skips empty lines. */
export function* linesOf(text: string): Generator<Line> {
  let words: Word[] = []
  let opened = -1
  let at = 0
  let indented = false
  let lineStart = true
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (lineStart) {
      if (opened < 0) indented = isBlank(code)
      lineStart = false
    }
    if (isBlank(code)) at++
    else if (isBreak(code)) {
      at++
      lineStart = true
      if (opened < 0 && words.length > 0) {
        yield { words, indented }
        words = []
      }
    } else if (code === SEMICOLON) {
      while (at < text.length && !isBreak(text.charCodeAt(at))) at++
    } else if (code === OPEN) {
      if (opened >= 0) throw new WordError('Parentheses must not be nested', at)
      opened = at++
    } else if (code === CLOSE) {
      if (opened < 0) throw new WordError('Unmatched closing parenthesis', at)
      opened = -1
      at++
    } else {
      const last = words.at(-1)
      const glued = last !== undefined && at > 0 && !isGap(text.charCodeAt(at - 1)) && endOf(last) === at
      const word = code === QUOTE ? quotedWord(text, at, glued) : plainWord(text, at, glued)
      words.push(word)
      at = endOf(word)
    }
  }
  if (opened >= 0) throw new WordError('Unmatched opening parenthesis', opened)
  if (words.length > 0) yield { words, indented }
}

/** The words of one value, read in order. Remembers the last word for error positions. */
export class Words {
  #next = 0

  constructor(
    readonly list: readonly Word[],
    /** Origin of relative names; null if names must be absolute. */
    readonly origin: string | null,
  ) {}

  get left(): number {
    return this.list.length - this.#next
  }

  /** The word read last, or the first one. */
  get current(): Word | undefined {
    return this.list[Math.max(0, this.#next - 1)]
  }

  /** @throws DnsFormatError if there is none left */
  next(): Word {
    const word = this.list[this.#next]
    if (!word) throw new DnsFormatError('is missing')
    this.#next++
    return word
  }

  peek(): Word | undefined {
    return this.list[this.#next]
  }

  /** Joins all remaining words, since hexadecimal and base64 can contain spaces. @throws DnsFormatError if there are none */
  rest(): string {
    let text = this.next().text
    while (this.left > 0) text += this.next().text
    return text
  }
}

const QUOTE = 0x22
const SEMICOLON = 0x3b
const OPEN = 0x28
const CLOSE = 0x29
const BACKSLASH = 0x5c

const isBlank = (code: number) => code === 0x20 || code === 0x09
const isBreak = (code: number) => code === 0x0a || code === 0x0d
const isGap = (code: number) => isBlank(code) || isBreak(code)

const endOf = (word: Word) => word.at + word.text.length + (word.quoted ? 2 : 0)

function quotedWord(text: string, at: number, glued: boolean): Word {
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === QUOTE) return { text: text.slice(at + 1, end), quoted: true, glued, at }
    if (isBreak(code)) break
    if (code === BACKSLASH) end++
  }
  throw new WordError('A quoted string must end on the same line', at)
}

function plainWord(text: string, at: number, glued: boolean): Word {
  let end = at
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (isGap(code) || code === QUOTE || code === SEMICOLON || code === OPEN || code === CLOSE) break
    if (code === BACKSLASH && !isBreak(text.charCodeAt(end + 1))) end++
  }
  return { text: text.slice(at, Math.min(end, text.length)), quoted: false, glued, at }
}
