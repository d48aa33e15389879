/**
 * Invalid DNS data: text, fields or octets that violate a rule of a record, a name, a message or a zone file. This folder throws no
 * other errors for any input. The message is a sentence for people: `preference must be between 0 and 65535 (RFC 1035 3.3.9)`.
 */
export class DnsFormatError extends Error {
  override readonly name: string = 'DnsFormatError'

  constructor(
    /** The rule, starting with a verb if there is a field: `must be between 0 and 65535`. */
    readonly rule: string,
    /** The invalid field, as named in the JSON form of a record (`preference`), or null. */
    readonly field: string | null = null,
    /** Document and section of the rule (`RFC 1035 3.3.9`), or null. */
    readonly reference: string | null = null,
  ) {
    super(`${field === null ? '' : `${field} `}${rule}${reference === null ? '' : ` (${reference})`}`)
  }

  /** Adds the field and reference, unless they are already set. */
  within(field: string, reference: string): DnsFormatError {
    return new DnsFormatError(this.rule, this.field === null ? field : this.field, this.reference ?? reference)
  }
}

/** The result of `read`, or of `handle` if `read` throws a DnsFormatError. */
export function catchFormatError<T, U>(read: () => T, handle: (error: DnsFormatError) => U): T | U {
  try {
    return read()
  } catch (error) {
    if (error instanceof DnsFormatError) return handle(error)
    throw error
  }
}

/** Runs `read`, and adds the field and reference to its errors. */
export const ofField = <T>(field: string, reference: string, read: () => T): T =>
  catchFormatError(read, error => {
    throw error.within(field, reference)
  })
