/**
 * Something that is not DNS: text, fields or octets that break a rule of a record, a name, a message or a zone file.
 * Nothing else is thrown by this folder, whatever it is given to read. The message is a sentence for people:
 * `preference must be 0–65535 (RFC 1035 3.3.9)`.
 */
export class DnsFormatError extends Error {
  override readonly name: string = 'DnsFormatError'

  constructor(
    /** What has to hold, starting with a verb where there is a field: `must be 0–65535`. */
    readonly rule: string,
    /** The field that breaks it, as in the JSON form of a record (`preference`), or null. */
    readonly field: string | null = null,
    /** The document and section of the rule (`RFC 1035 3.3.9`), or null. */
    readonly reference: string | null = null,
  ) {
    super(`${field === null ? '' : `${field} `}${rule}${reference === null ? '' : ` (${reference})`}`)
  }

  /** The same with the field and the reference that only the caller knew; what is already named stays. */
  within(field: string, reference: string): DnsFormatError {
    return new DnsFormatError(this.rule, this.field === null ? field : this.field, this.reference ?? reference)
  }
}

/** Runs `read` and names the field and the reference in what it throws. */
export function ofField<T>(field: string, reference: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof DnsFormatError ? error.within(field, reference) : error
  }
}
