import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Values } from '../../../parts/form'

export type Variable = TemplateView['variables'][number]
export type TemplateRecord = TemplateView['records'][number]

/** Labels of the types of variables. */
export const variableTypes: Record<Variable['type'], string> = {
  string: 'Text',
  ip: 'IPv4 address',
  ipv6: 'IPv6 address',
  host: 'Hostname',
  int: 'Integer',
  enum: 'Choice',
}

/** Form values of a template. Fields of a row that the form doesn’t show are preserved. */
export const valuesOf = (template: Pick<TemplateView, 'name' | 'description' | 'variables' | 'records'>): Values => ({
  name: template.name,
  description: template.description,
  variables: template.variables,
  records: template.records,
})

/** Converts form values to a request body. */
export const bodyOf = (values: Values): Values => ({
  name: values.name,
  description: values.description,
  variables: (values.variables as Variable[]).map(one => withoutEmpty({ ...one, default: valueFor(one.type, one.default) })),
  records: (values.records as TemplateRecord[]).map(withoutEmpty),
})

/** Parses the input for a variable: a number for `int` if possible, undefined if empty. */
export function valueFor(type: Variable['type'], input: unknown): string | number | undefined {
  const text = String(input ?? '')
  if (text === '') return undefined
  return type === 'int' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

// Empty fields are omitted, so that the API applies its defaults.
const withoutEmpty = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '' && value !== null && value !== undefined)) as Row

/** A template as lines of text, to compare versions. */
export const linesOf = ({ name, description, variables, records }: Parameters<typeof valuesOf>[0]): string[] => [
  `name ${name}`,
  ...(description === '' ? [] : [`description ${description}`]),
  ...variables.map(({ name: variable, type, ...rest }) => `variable ${variable} ${type}${attributesText(rest)}`),
  ...records.map(
    ({ type, name: at, ttl, content, ...rest }) =>
      `${at} ${ttl === undefined ? '' : `${ttl} `}${type} ${content ?? ''}${attributesText(rest)}`,
  ),
]

const attributesText = (rest: object): string => {
  const words = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
  )
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}
