import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Values } from '../../../parts/form'

export type Variable = TemplateView['variables'][number]
export type TemplateRecord = TemplateView['records'][number]

/** The fields of a template's form. Rows are edited as they are; members that a row has beside them stay. */
export const valuesOf = (template: Pick<TemplateView, 'name' | 'description' | 'variables' | 'records'>): Values => ({
  name: template.name,
  description: template.description,
  variables: template.variables,
  records: template.records,
})

/** What the fields stand for, as the API takes it. */
export const bodyOf = (values: Values): Values => ({
  name: values.name,
  description: values.description,
  variables: (values.variables as Variable[]).map(one => filled({ ...one, default: valueFor(one.type, one.default) })),
  records: (values.records as TemplateRecord[]).map(filled),
})

/** A value of a variable as it was typed; of an `int` the number, where it is one. Undefined for nothing. */
export function valueFor(type: Variable['type'], given: unknown): string | number | undefined {
  const text = String(given ?? '')
  if (text === '') return undefined
  return type === 'int' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

// What is empty in a form is left to the API.
const filled = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '' && value !== null && value !== undefined)) as Row

/** A template as lines, to compare versions of it. */
export const linesOf = ({ name, description, variables, records }: Parameters<typeof valuesOf>[0]): string[] => [
  `name ${name}`,
  ...(description === '' ? [] : [`description ${description}`]),
  ...variables.map(({ name: variable, type, ...rest }) => `variable ${variable} ${type}${told(rest)}`),
  ...records.map(
    ({ type, name: at, ttl, content, ...rest }) =>
      `${at} ${ttl === undefined ? '' : `${ttl} `}${type} ${content ?? ''}${told(rest)}`,
  ),
]

const told = (rest: object): string => {
  const words = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
  )
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}
