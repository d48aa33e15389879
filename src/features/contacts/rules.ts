import { isCountryCode } from './countries'
import { invalid, type FieldProblem } from '../../core/problem'
import { addressNeeds } from './address-rules'
import { countryFields } from './fields'
import { InvalidPhone, parsePhone } from './phone'
import type { ContactData } from './shapes'

/**
 * Checks what the schema of a contact can’t express. No message repeats a value: personal data must not get into logs.
 * @returns the contact with its phone number in E.164 format
 * @throws Problem 422
 */
export function validContact(contact: ContactData): ContactData {
  const problems: FieldProblem[] = []
  const report = (name: string, code: string, detail: string) => problems.push({ pointer: `#/${name}`, code, detail })
  const { type, organization, country, state, postal_code, fields } = contact
  if (type !== 'individual' && organization.trim() === '')
    report('organization', 'required', `is required if \`type\` is ${type}: enter the legal name.`)
  if (!isCountryCode(country)) report('country', 'enum', unknownCountry)
  const needs = addressNeeds(country)
  if (needs.state && state.trim() === '') report('state', 'required', `is required for addresses in ${country}.`)
  if (needs.postalCode && postal_code.trim() === '') report('postal_code', 'required', `is required for addresses in ${country}.`)
  for (const name of countryFields)
    if (fields[name] !== undefined && !isCountryCode(fields[name])) report(`fields/${name}`, 'enum', unknownCountry)
  let phone = contact.phone
  try {
    phone = parsePhone(phone)
  } catch (error) {
    if (!(error instanceof InvalidPhone)) throw error
    report('phone', 'format', error.message)
  }
  if (problems.length > 0) throw invalid(problems)
  return { ...contact, phone }
}

const unknownCountry = 'must be a country code of ISO 3166-1, such as FR.'
