import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { InvalidPhone, parsePhone } from './phone'

const refused = (text: string): string => {
  try {
    return `accepted as ${parsePhone(text)}`
  } catch (error) {
    if (error instanceof InvalidPhone) return error.message
    throw error
  }
}

test('phone numbers are normalized to E.164', () => {
  for (const [text, number] of Object.entries({
    '+33123456789': '+33123456789',
    ' +33 1 23 45 67 89 ': '+33123456789',
    '+33.123456789': '+33123456789',
    '+1 (202) 555-0123': '+12025550123',
    '+49 (0)30 12345678': '+493012345678',
    '+80012345678': '+80012345678',
  }))
    expect([text, parsePhone(text)]).toEqual([text, number])
})

test('what is no phone number with a country code is refused, without repeating it', () => {
  const start = 'must start with a plus sign and the country code'
  for (const text of ['', '0123456789', '33123456789', '00 33 1 23 45 67 89', 'call me', '٠٣٣'])
    expect(refused(text)).toStartWith(start)
  for (const text of ['+33 1 23 45 67 89 x12', '+33;ext=5', '+33+1', '+٣٣١٢٣٤٥٦٧٨٩', '+33\u00001'])
    expect(refused(text)).toContain('only contain digits')
  for (const text of ['+0123456789', '+999 1234567']) expect(refused(text)).toStartWith('must start with the code of a country')
  for (const text of ['+33', '+331', '+33 1 23 45', '+33 1 23 45 67 89 01 23', '+331234567890123456789'])
    expect([text, refused(text)]).toEqual([
      text,
      'must be a complete phone number: it has too few or too many digits for its country.',
    ])
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), text => {
      const outcome = refused(`+${text}`)
      return outcome.startsWith('must') || /^accepted as \+[1-9]\d{5,14}$/.test(outcome)
    }),
  )
})
