import { Type } from '@sinclair/typebox'
import { inputColumns } from '../../core/members'
import { fieldProblems } from '../../core/validate'
import { registrarName } from '../registry/reading'
import { registryDate } from '../registry/registry-date'
import type { GivenColumns } from './domains'
import type { ImportLine } from './import-lines'
import type { ImportedLine } from './import-shapes'
import { registrablePart } from './names'
import { domainMembers } from './shapes'

const maxShown = 255
const yes = ['true', 'yes', '1', 'on']
const no = ['false', 'no', '0', 'off', '']

interface ParsedLine {
  result: ImportedLine
  /** Null if the line is invalid. */
  given: GivenColumns | null
}

/** What a line of an import becomes, if its domain is not known yet. */
export function parsedLine({ line, cells }: ImportLine): ParsedLine {
  const input = cells.name ?? ''
  const result: ImportedLine = {
    ...{ line, input: input.slice(0, maxShown), name: null, outcome: 'created', code: null, detail: null, id: null },
  }
  const refuse = (code: string, detail: string): ParsedLine => ({
    result: { ...result, outcome: 'invalid', code, detail },
    given: null,
  })
  const found = registrablePart(hostOf(input))
  if ('code' in found) return refuse(found.code, found.detail)
  result.name = found.name
  const end = cells.expires_at ?? ''
  const givenExpiresAt = end === '' ? null : registryDate(end)
  if (end !== '' && givenExpiresAt === null)
    return refuse('format', '`expires_at` must be a date from 1985 to 2099, such as 2027-04-02.')
  const autoRenew = (cells.auto_renew ?? '').toLowerCase()
  if (![...yes, ...no].includes(autoRenew)) return refuse('format', '`auto_renew` must be true or false.')
  const fields = { tags: [...new Set((cells.tags ?? '').split(/[\s,;]+/).filter(Boolean))], notes: cells.notes ?? '' }
  const [problem] = fieldProblems(importedFields, fields)
  if (problem) return refuse(problem.code, `\`${problem.pointer.split('/')[1]}\` ${problem.detail}`)
  return {
    result,
    given: {
      ...inputColumns(domainMembers, { name: found.name, ...fields }),
      ...{ ...found, givenExpiresAt },
      givenAutoRenew: cells.auto_renew ? yes.includes(autoRenew) : null,
      givenRegistrar: registrarName(cells.registrar),
    },
  }
}

const importedFields = Type.Object({ tags: domainMembers.tags.schema, notes: domainMembers.notes.schema })

/** The host of a name, a host with a port, or a URL. */
function hostOf(text: string): string {
  const trimmed = text.trim()
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return URL.parse(trimmed)?.hostname ?? trimmed
  return trimmed
    .replace(/[/?#].*$/s, '')
    .replace(/(?<!:[^:]*):\d{1,5}$/, '')
    .replace(/^\*\./, '')
}
