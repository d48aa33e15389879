import { ParseError, parsePhoneNumberWithError } from 'libphonenumber-js/min'

/** A text that is not a phone number. The message completes a sentence that starts with the name of the field, and never repeats the text. */
export class InvalidPhone extends Error {
  override name = 'InvalidPhone'
}

/**
 * Parses a phone number that starts with a plus sign and the country code, with spaces, dots, hyphens, or parentheses anywhere. Checks
 * the country code and the length, but not whether the number is in use: numbering plans change faster than any list of them.
 * @returns the number in E.164 format: `+33123456789`
 * @throws InvalidPhone
 */
export function parsePhone(text: string): string {
  if (!text.trim().startsWith('+'))
    throw new InvalidPhone('must start with a plus sign and the country code, such as +33 1 23 45 67 89.')
  if (!/^\+[0-9 ().-]+$/.test(text.trim()))
    throw new InvalidPhone('must only contain digits after the plus sign. Extensions are not supported.')
  try {
    const number = parsePhoneNumberWithError(text.trim())
    if (number.isPossible()) return number.number
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    if (error.message === 'INVALID_COUNTRY') throw new InvalidPhone('must start with the code of a country, such as +33.')
  }
  throw new InvalidPhone('must be a complete phone number: it has too few or too many digits for its country.')
}
