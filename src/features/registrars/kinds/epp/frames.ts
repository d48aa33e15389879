/** Octets of the length in front of each message; it includes them (RFC 5734 section 4). */
const headerLength = 4
/** The largest message that is accepted, in octets. The response to a check of 20 names with their prices is about 20,000 octets. */
export const maxMessageLength = 128 * 1024

/** A server sent something that isn’t EPP. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/** Encodes a message (RFC 5734 section 4). */
export function frameOf(message: string): Uint8Array {
  const octets = Buffer.from(message)
  const frame = Buffer.allocUnsafe(headerLength + octets.length)
  frame.writeUInt32BE(frame.length)
  octets.copy(frame, headerLength)
  return frame
}

/** Splits a stream into messages. */
export class FrameReader {
  readonly #header = Buffer.alloc(headerLength)
  #headerSize = 0
  /** The message that is being received. */
  #body: Buffer | null = null
  #bodySize = 0

  /** Whether a message has begun that is not complete yet. */
  get isPartial(): boolean {
    return this.#headerSize > 0
  }

  /** Adds what was received. @returns the messages that are complete now @throws FrameError for a length that no message has */
  push(received: Uint8Array): string[] {
    const messages: string[] = []
    for (let at = 0; at < received.length;) {
      if (!this.#body) {
        this.#header[this.#headerSize++] = received[at++]!
        if (this.#headerSize === headerLength) this.#body = Buffer.allocUnsafe(lengthOf(this.#header))
        continue
      }
      const part = received.subarray(at, at + this.#body.length - this.#bodySize)
      this.#body.set(part, this.#bodySize)
      this.#bodySize += part.length
      at += part.length
      if (this.#bodySize < this.#body.length) continue
      messages.push(textOf(this.#body))
      this.#body = null
      this.#headerSize = this.#bodySize = 0
    }
    return messages
  }
}

function lengthOf(header: Buffer): number {
  const length = header.readUInt32BE() - headerLength
  if (length < 1) throw new FrameError('The server sent an empty message, or is not an EPP server.')
  if (length > maxMessageLength)
    throw new FrameError(`The server sent a message of more than ${maxMessageLength / 1024} KiB, or is not an EPP server.`)
  return length
}

function textOf(octets: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets)
  } catch {
    throw new FrameError('The server sent a message that is not UTF-8.')
  }
}
