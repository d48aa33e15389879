import type { ReactNode } from 'react'
import { Group } from './advanced'
import { CheckboxField, KnownField, NumberField, SecretField, SelectField, TextareaField, TextField, useForm } from './form'
import { labelOf } from './labels'
import { fieldsOf, fieldsOfVariant, kindOf, variantOf, variantsOf, type OptionSchema } from './option-values'
import { capitalize } from './status'
import { TextWithCode } from './text-with-code'
import { TimezoneField } from './timezone-field'

interface OptionFieldsProps {
  /** JSON Schema of each option, by name. */
  schemas: Record<string, OptionSchema>
  /** Paths of secret options: `auth/password`, `/secret_headers/*`. */
  secrets: readonly string[]
  /** Paths of secrets that are set. */
  secretsSet?: readonly string[]
  /** Parent field of the options: `options` or `settings`. */
  prefix?: string
}

/** Returns the schemas of an object's properties, by name. */
export const schemasOf = (schema: { properties?: unknown }): Record<string, OptionSchema> =>
  (schema.properties ?? {}) as Record<string, OptionSchema>

/**
 * Fields for the common options of a check type, or settings of a channel or provider kind, generated from their JSON Schema. The
 * others are in `OptionGroups`.
 */
export const OptionFields = (props: OptionFieldsProps) =>
  fieldsIn(
    props,
    Object.entries(props.schemas).filter(([, schema]) => schema['x-group'] === undefined),
  )

/** The groups of advanced options, as their schemas name them. For `Advanced`. */
export function OptionGroups(props: OptionFieldsProps) {
  const groups = Map.groupBy(Object.entries(props.schemas), ([, schema]) => schema['x-group'])
  return [...groups].map(
    ([label, members]) =>
      label !== undefined && (
        <Group key={label} label={label} contents={members.map(([name, schema]) => titleOf(name, schema))}>
          {fieldsIn(props, members)}
        </Group>
      ),
  )
}

function fieldsIn(
  { schemas, secrets, secretsSet = [], prefix = 'options' }: OptionFieldsProps,
  members: [string, OptionSchema][],
): ReactNode {
  const known = {
    paths: secrets.map(one => one.replace(/^\//, '')),
    set: secretsSet,
    labels: new Map(namesIn(schemas)),
  }
  return members.map(([name, schema]) => <OptionField key={name} parent={prefix} path={name} schema={schema} known={known} />)
}

/** What the fields know of all options. */
interface Known {
  /** JSON pointers of secrets relative to the options, without leading slash: `auth/password`, `secret_headers/*`. */
  paths: readonly string[]
  /** Those that are set. */
  set: readonly string[]
  /** The label of each option. */
  labels: ReadonlyMap<string, string>
}

/** The names and labels of options, those within others first. */
const namesIn = (schemas: Record<string, OptionSchema>): [string, string][] =>
  Object.entries(schemas).flatMap(([name, schema]) => [
    ...[schema, ...(schema.anyOf ?? [])].flatMap(one => namesIn(one.properties ?? {})),
    [name, titleOf(name, schema)] as [string, string],
  ])

const titleOf = (path: string, schema: OptionSchema): string => schema.title ?? labelOf(path)

interface OptionFieldProps {
  parent: string
  /** Path relative to the options: `auth.password`. */
  path: string
  schema: OptionSchema
  known: Known
  /** Required within its object, so it has no default. */
  required?: boolean
}

function OptionField(props: OptionFieldProps) {
  const { parent, path, schema, known } = props
  const name = `${parent}.${path}`
  return (
    <KnownField value={{ isStored: storedIn(known, path).length > 0, unset: fieldsOf(name, schema, undefined)[name] }}>
      <FieldOfKind {...props} />
    </KnownField>
  )
}

const storedIn = ({ set }: Known, path: string): string[] => {
  const pointer = path.replaceAll('.', '/')
  return set.filter(one => one === pointer || one.startsWith(`${pointer}/`))
}

function FieldOfKind({ parent, path, schema, known, required = false }: OptionFieldProps) {
  const name = `${parent}.${path}`
  const label = titleOf(path, schema)
  const pointer = path.replaceAll('.', '/')
  const isSecret = known.paths.includes(pointer) || known.paths.includes(`${pointer}/*`)
  const stored = storedIn(known, path)
  const storedHint =
    stored.length === 0
      ? ''
      : stored[0] === pointer
        ? ' Already set. Leave empty to keep it.'
        : ` Already set: ${stored.map(lastSegment).join(', ')}.`
  const hint = (inWords(hintOf(schema, label), path, schema, known) + (isSecret ? storedHint : '')).trim()
  const field = { name, label, ...(hint !== '' && { hint: <TextWithCode text={hint} /> }) }
  if (schema.format === 'timezone') return <TimezoneField {...field} />
  const kind = kindOf(schema)
  switch (kind) {
    case 'check':
      return <CheckboxField {...field} />
    case 'number':
      return (
        <NumberField
          {...field}
          {...(schema.minimum !== undefined && { min: schema.minimum })}
          {...(schema.maximum !== undefined && { max: schema.maximum })}
        />
      )
    case 'choice':
      return (
        <SelectField
          {...field}
          choices={[
            ...(schema.default === undefined ? [['', required ? 'Select…' : 'Default'] as const] : []),
            ...schema.anyOf!.map(one => [String(one.const), choiceLabel(path, String(one.const))] as const),
          ]}
        />
      )
    case 'lines':
    case 'pairs': {
      const format = kind === 'lines' ? 'One per line.' : 'One per line, as `Name: value`.'
      return <TextareaField {...field} rows={3} mono hint={<TextWithCode text={`${hint} ${format}`.trim()} />} />
    }
    case 'area':
    case 'json':
      return <TextareaField {...field} rows={4} mono />
    case 'object':
      return (
        <fieldset className="flex flex-col gap-3 border-l-2 border-line pl-3">
          <legend className="mb-1 font-medium">{label}</legend>
          {schema.description && (
            <p className="text-[13px] text-muted">
              <TextWithCode text={inWords(schema.description, path, schema, known)} />
            </p>
          )}
          {Object.entries(schema.properties!).map(([name, inner]) => (
            <OptionField
              key={name}
              parent={parent}
              path={`${path}.${name}`}
              schema={inner}
              known={known}
              required={schema.required?.includes(name) ?? false}
            />
          ))}
        </fieldset>
      )
    case 'variants':
      return <Variants parent={parent} path={path} schema={schema} known={known} />
    case 'text':
      return isSecret ? <SecretField {...field} autoComplete="off" /> : <TextField {...field} mono />
  }
}

function Variants({ parent, path, schema, known }: OptionFieldProps) {
  const { values } = useForm()
  const name = `${parent}.${path}.${schema['x-discriminator']}`
  const variant = variantOf(schema, String(values[name] ?? ''))
  return (
    <>
      <KnownField value={{ isStored: false, unset: '' }}>
        <SelectField
          name={name}
          label={titleOf(path, schema)}
          hint={<TextWithCode text={inWords(schema.description ?? '', path, schema, known)} />}
          choices={[['', 'None'], ...variantsOf(schema)]}
        />
      </KnownField>
      {variant && (
        <div className="flex flex-col gap-3 border-l-2 border-line pl-3">
          {fieldsOfVariant(schema, variant).map(([name, inner]) => (
            <OptionField key={name} parent={parent} path={`${path}.${name}`} schema={inner} known={known} />
          ))}
        </div>
      )}
    </>
  )
}

const tlsLabels: Record<string, string> = {
  implicit: 'Implicit TLS',
  starttls: 'STARTTLS (required)',
  opportunistic: 'STARTTLS if available',
  none: 'None (unencrypted)',
}

/** Returns the label of a choice. Those that aren’t words, such as versions, are their own. */
const choiceLabel = (path: string, value: string): string =>
  (/(?:^|\.)tls$/.test(path) ? tlsLabels[value] : undefined) ??
  (path.endsWith('ip_family') ? `IPv${value}` : /^[a-z_]+$/.test(value) ? labelOf(value) : value)

const lastSegment = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1)

/** Names options and choices in a description as the form does: `max_redirects` becomes “Maximum redirects”. */
const inWords = (text: string, path: string, schema: OptionSchema, { labels }: Known): string =>
  text.replace(/`([a-z][a-z0-9_]*)`/g, (code, word: string) => {
    const isChoice = schema.anyOf?.some(one => one.const === word)
    const label = isChoice ? choiceLabel(path, word) : (variantOf(schema, word)?.title ?? labels.get(word))
    return label === undefined ? code : `“${label}”`
  })

/** Returns the description and an example, without a first sentence that only repeats the label. */
function hintOf({ description = '', examples }: OptionSchema, label: string): string {
  const rest = description.slice(label.length)
  const isRepeated = description.toLowerCase().startsWith(label.toLowerCase()) && /^[.:]($|\s)/.test(rest)
  const text = isRepeated ? capitalize(rest.slice(1).trim()) : description
  const [example] = examples ?? []
  return example !== undefined && typeof example !== 'object' ? `${text} Example: ${String(example)}`.trim() : text
}
